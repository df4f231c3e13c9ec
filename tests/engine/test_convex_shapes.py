"""Where two shapes touch, by the kernels of a GPU, is where MuJoCo finds it."""

from __future__ import annotations

from collections import namedtuple

import mujoco
import numpy as np
import pytest

from footfall.compiled import kernel
from footfall.engine.other_bodies.convex import SPOTS, Probe, apart, find_spots, put
from footfall.engine.other_bodies.solids import colliding_pairs, distances, few_corners, make_meetings, make_shapes
from footfall.engine.worlds import every_pair
from footfall.engine.worlds.arrays import PLACED
from footfall.kinds import zeros

SIZES = {
    "sphere": 'size="0.05"',
    "capsule": 'size="0.04 0.1"',
    "ellipsoid": 'size="0.1 0.06 0.03"',
    "cylinder": 'size="0.06 0.08"',
    "box": 'size="0.1 0.06 0.03"',
    "mesh": 'mesh="stone"',
}
PAIRS = [(a, b) for i, a in enumerate(SIZES) for b in list(SIZES)[i:]]
SCENE = """
<mujoco>
  <asset><mesh name="stone" vertex="{stone}"/></asset>
  <worldbody>
    <body name="a"><freejoint/><geom type="{a}" {size_a}/></body>
    <body name="b"><freejoint/><geom type="{b}" {size_b}/></body>
  </worldbody>
</mujoco>
"""


def stone() -> np.ndarray:
    """Forty corners on an ellipsoid, m."""
    found = np.random.default_rng(3).normal(size=(40, 3))
    return found / np.linalg.norm(found, axis=1, keepdims=True) * [0.1, 0.07, 0.05]


@kernel
def compare(xpos, xmat, shapes, g, h, probe, reach):
    """Gap, whether the shapes are farther apart than ``reach``, and at how many spots they touch."""
    put(xpos, xmat, shapes, g, probe, 0)
    put(xpos, xmat, shapes, h, probe, 1)
    gap, far = apart(shapes, g, h, probe, reach)
    if far:
        return gap, far, 0
    return gap, far, find_spots(shapes, g, h, probe, gap)


class Two:
    """Two geoms, as MuJoCo and as a GPU sees them."""

    def __init__(self, a: str, b: str) -> None:
        text = " ".join(map(str, stone().ravel()))
        scene = SCENE.format(stone=text, a=a, b=b, size_a=SIZES[a], size_b=SIZES[b])
        self.model = mujoco.MjModel.from_xml_string(scene)
        self.data = mujoco.MjData(self.model)
        self.shapes, _ = make_shapes(self.model, np.array([0, 1]))
        self.probe = zeros(Probe, {})
        ((self.first, self.second),) = colliding_pairs(self.model, self.model.qpos0)

    def put(self, turns: np.ndarray, way: np.ndarray) -> None:
        self.data.qpos[:] = [0.0, 0.0, 0.0, *turns[0], *way, *turns[1]]
        mujoco.mj_kinematics(self.model, self.data)

    def distance(self) -> tuple[float, np.ndarray]:
        """MuJoCo's distance, m, and its points on both."""
        ends = np.zeros(6)
        return mujoco.mj_geomDistance(self.model, self.data, self.first, self.second, 1.0, ends), ends.reshape(2, 3)

    def compare(self, reach: float = 1.0) -> tuple[float, bool, int]:
        return compare(self.data.xpos, self.data.xmat, self.shapes, self.first, self.second, self.probe, reach)

    def bring(self, turns: np.ndarray, direction: np.ndarray, distance: float) -> None:
        """Bring them to about this distance, m, by halving."""
        near, far = 0.0, 0.5
        for _ in range(30):
            self.put(turns, 0.5 * (near + far) * direction)
            near, far = (0.5 * (near + far), far) if self.distance()[0] < distance else (near, 0.5 * (near + far))


def random_pose(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two orientations and a direction."""
    turns, way = rng.normal(size=(2, 4)), rng.normal(size=3)
    return turns / np.linalg.norm(turns, axis=1, keepdims=True), way / np.linalg.norm(way)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=map(" and ".join, PAIRS))
def test_two_shapes_are_as_far_apart_as_mujoco_finds_them(a: str, b: str) -> None:
    """Distance and normal: of shapes with edges to rounding. MuJoCo finds those of curved ones to 1e-6 m, and where two
    such overlap to a hundredth of the depth. Two meshes that overlap may be found up to 5 % deeper than they are, along
    another of their faces.
    """
    two, rng, smooth = Two(a, b), np.random.default_rng(0), {"cylinder", "ellipsoid"}
    curved = smooth & {a, b}
    for k in range(60):
        turns, way = random_pose(rng)
        two.bring(turns, way, rng.uniform(1e-3, 0.02) if k % 2 else rng.uniform(-5e-3, -1e-4))
        expected, ends = two.distance()
        gap, far, count = two.compare()
        assert not far and count >= 1
        close = 1e-6 if curved else 1e-12
        if expected < 0.0 and curved and {a, b} <= smooth | {"mesh"}:
            close = max(close, 0.01 * -expected)
        deeper = 0.05 * -expected if expected < 0.0 and a == b == "mesh" else close
        assert expected - deeper <= gap <= expected + close
        if expected > 0.0:  # the normal of an overlap is that of its depth, which several may have
            normal = (ends[1] - ends[0]) / expected
            assert two.probe.normal == pytest.approx(normal, abs=2e-3 if curved else 1e-9)
            # A spot lies in the middle, however many there are.
            middle = (two.probe.spot[:count, :3] - ends.mean(axis=0)) @ normal
            assert np.abs(middle).max() < (1e-3 if curved else 1e-9) or count > 1


def test_nothing_is_compared_for_longer_than_it_takes_to_know_that_it_is_far() -> None:
    two, rng = Two("box", "mesh"), np.random.default_rng(1)
    for _ in range(30):
        turns, way = random_pose(rng)
        two.put(turns, 0.4 * way)
        gap, far, _ = two.compare(reach=0.01)
        assert far and 0.01 < gap <= two.distance()[0] + 1e-12


@pytest.mark.parametrize(
    ("a", "b", "turns", "way"),
    [
        ("box", "box", (0.0, 0.0), (0.05, 0.03, 0.0595)),
        ("box", "box", (0.0, 0.4), (0.02, 0.0, 0.0595)),
        ("capsule", "capsule", (0.0, 0.0), (0.0795, 0.0, 0.05)),
        ("capsule", "box", (0.0, 0.0), (0.1395, 0.0, 0.0)),
    ],
    ids=["on a part", "turned", "side by side", "along a face"],
)
def test_flat_faces_touch_over_their_common_part_as_in_mujoco(a: str, b: str, turns, way) -> None:
    """MuJoCo has up to eight spots, here the four that reach farthest: as deep, and over the same extent."""
    two = Two(a, b)
    quaternions = np.array([[np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)] for turn in turns])
    two.put(quaternions, np.array(way))
    mujoco.mj_collision(two.model, two.data)
    spots, depths = two.data.contact.pos, two.data.contact.dist
    gap, _, count = two.compare()
    found = two.probe.spot[:count]
    assert two.probe.normal == pytest.approx(two.data.contact.frame[0, :3], abs=1e-9)
    assert gap == pytest.approx(depths.min(), abs=1e-9) and found[:, 3] == pytest.approx(depths.min(), abs=1e-9)
    assert count == min(4, len(spots)) > 1
    assert np.ptp(found[:, :3], axis=0) == pytest.approx(np.ptp(spots, axis=0), abs=5e-4)
    # Each is one of MuJoCo's, but for the thousandth of their size by which a face is wider where it cuts another.
    assert max(np.linalg.norm(spots - spot[:3], axis=1).min() for spot in found) < 5e-4


def test_a_mesh_of_many_corners_keeps_those_that_reach_farthest() -> None:
    turn = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    rim = np.column_stack([0.1 * np.cos(turn), 0.1 * np.sin(turn), np.zeros(400)])
    kept, lacking = few_corners(np.concatenate([rim, rim + np.array([0.0, 0.0, 0.3])]))
    assert len(kept) == 64
    # 64 corners on two circles leave gaps of some 0.2 rad, and by those 0.1 (1 - cos 0.1) m.
    assert 0.0 < lacking < 2e-3
    few, none = few_corners(rim[:50])
    assert len(few) == 50 and none == 0.0


ARMS = """
<mujoco>
  <worldbody>
    <geom type="cylinder" size="0.3 0.1" pos="0 0 -0.4"/>
    <body>
      <freejoint/><geom type="box" size="0.15 0.1 0.05"/>
      <body pos="0.15 0.1 0"><joint type="ball"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03"/>
        <body pos="0.2 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03"/></body></body>
      <body pos="0.15 -0.1 0"><joint axis="0 0 1"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03"/>
        <body pos="0.2 0 0"><joint type="slide" axis="1 0 0" range="-0.1 0.1" limited="true"/>
          <geom type="sphere" size="0.05"/></body></body>
    </body>
  </worldbody>
</mujoco>
"""


@kernel
def space_of(space, lane):
    return space


@kernel
def look_at(pairs, space, sight, count, probe):
    """Contacts between bodies that touch, as the lanes of a GPU find them."""
    every_pair.look(pairs, every_pair.Block(space, space_of, 0, sight, count, probe), 1e-3)


Placed = namedtuple("Placed", "xpos xmat cvel subtree_com answer pairs")


def test_no_pair_that_touches_is_passed_over() -> None:
    """A robot whose joints turn by up to 0.03 rad a step: the balls around shapes that touch do."""
    model, rng = mujoco.MjModel.from_xml_string(ARMS), np.random.default_rng(1)
    data, body = mujoco.MjData(model), model.geom_bodyid.astype(np.int64)
    shapes, meetings = make_meetings(model, model.qpos0, wanted=True)
    root, length = model.body_rootid.astype(np.int64), model.body_weldid.astype(np.int64)
    pairs = every_pair.PairsOfAll(body, root, np.zeros((0, 0), np.int64), length, 0, shapes, meetings)
    own, sight = every_pair.pair_space(every_pair.pair_lengths(model, meetings)), every_pair.sight(pairs)
    still = np.zeros((model.nbody, 6)), np.zeros((model.nbody, 3))
    space = Placed(data.xpos, data.xmat, *still, np.array([PLACED]), own)
    gap, probe, count, touched, due = np.zeros(len(meetings.first)), zeros(Probe, {}), np.zeros(2, np.int32), 0, 0
    for step in range(300):
        if step % 50 == 0:
            velocity = rng.normal(size=model.nv) * ([1.0, 1.0, 1.0] + [10.0] * (model.nv - 3))
        mujoco.mj_integratePos(model, data.qpos, velocity, 1e-3)
        mujoco.mj_kinematics(model, data)
        distances(data.xpos, data.xmat, shapes, meetings.first, meetings.second, probe, gap)
        touching = np.flatnonzero(gap + meetings.rest <= meetings.reach)
        look_at(pairs, space, sight, count, probe)
        assert np.array_equal(np.unique(own.which[: own.found[0]] // SPOTS), touching)
        touched, due = touched + len(touching), due + count[1]
    assert touched > 20 and due < 0.5 * 300 * len(gap)
