"""Contact forces, modes, touch-downs and the state of the base, from joints, torques and an IMU alone.

Inverse dynamics in the frame of the root, where the accelerometer includes gravity, gives the generalised residual
forces, those of the ground, r = J^T f. All signals pass the same low pass, so that r equals the output of a momentum
observer with this filter. The estimate is the force inside the friction cones of the contact points nearest to r, with
a penalty on points high above the ground. A Kalman filter of attitude, velocity, place and biases is driven by the IMU;
its measurements are that loaded feet rest on the ground, unless their speed shows that they slide. Afterwards, unless
it is to be causal, a smoother runs backwards (Rauch, Tung and Striebel 1965).

    found = ff.estimate(log)
    found.force, found.force_deviation      # (T, feet, 3) N, world frame, and their standard deviations
    found.touch_downs, found.slides         # (foot, s), and (foot, from, to)
    found.record()                          # for plots, reports, measures and the audit, which judges the residual
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.contact import law
from footfall.errors import FootfallError, optional_package
from footfall.files.stamps import low_passed
from footfall.given_numbers import NotNegative, Positive
from footfall.ground import Ground
from footfall.logs.dynamics import Inverse, Signals, matrices, signals_of
from footfall.logs.log import NEAR_FACTOR, Log, home_up, shortened
from footfall.measure.common import runs
from footfall.record import Record
from footfall.robot.model import FREE
from footfall.robot.rotations import rotation_matrix, rotation_vector
from footfall.solve.quadratic_program import UNBOUNDED, active_set, empty_program, solve_quadratic_program
from footfall.standing import lowest_places, point_jacobian

#: Edges of the pyramid inside a friction cone.
EDGES = 8
#: Ratio of the variance of a row of inverse dynamics to that of a point's force, both in weights: sensors and models
#: are good to 0.01. And the gap of a point, in heights of the centre of mass, at which its penalty is ten times as
#: large.
PRIOR, HIGH = 1e-4, 0.02
#: Force in weights above which a foot becomes loaded, and below which it becomes unloaded.
LOADED, UNLOADED = 0.06, 0.03
#: Noise of gyroscope (rad/s) and accelerometer (m/s2) per sample, and random walk of their biases in a second.
GYRO, ACCEL, GYRO_WANDER, ACCEL_WANDER = 0.01, 0.2, 1e-4, 1e-3
#: Standard deviations: m/s, speed of a stance foot, by noise of joints and compliance of the sole; m, height of the
#: ground; rad, attitude of an IMU; m, measured place.
STILL, LEVEL, UPRIGHT, PLACED = 0.03, 0.005, 0.02, 0.003
#: Time (s) over which the accelerometer gives the first attitude: as the robot itself could, and with later samples.
AT_ONCE, SOON = 0.05, 2.0
#: Squared normalised innovation beyond which a foot moves, and time (s) for which it must move to count as sliding.
GATE, SLIDES = 16.0, 0.02
#: Rows of the audit that low-passed forces do not claim.
SMEARED = ("gap times force", "open force", "normal energy", "friction energy", "contact energy", "friction direction")
ATTITUDE, VELOCITY, PLACE, SPIN, PUSH = (slice(3 * i, 3 * i + 3) for i in range(5))
UNTURNED = np.eye(3)


@public
@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Contacts and state of the base, estimated from a log. World frame, z up.

    Attributes:
        log, ground: the log, and the ground under the robot.
        point_force: (T, P, 3) N; its distribution over points of one foot is of least norm, not measured.
        force_deviation: (T, feet, 3) N, of the feet's forces.
        mode: (T, feet) 0 open, 1 stick, 2 slide.
        slip: (T, feet) m/s, tangential speed of the pressure centre; NaN in the air.
        qpos, qvel: (T, nq), (T, nv) with the state of the base.
        slow_qvel: (T, nv) velocities below the cut-off, whose inertia the forces balance.
        base_deviation: (T, 9) rad, m/s and m, of attitude, velocity and place, about and along the world's axes.
        residual: (T,) norm of the residual that no force at the feet explains, in weights.
        cpu_time: s of processor time a sample.
        said: what was assumed.
    """

    log: Log
    ground: Ground
    point_force: np.ndarray
    force_deviation: np.ndarray
    mode: np.ndarray
    slip: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    slow_qvel: np.ndarray
    base_deviation: np.ndarray
    residual: np.ndarray
    cpu_time: float
    said: tuple[str, ...]

    @property
    def time(self) -> np.ndarray:
        """(T,) s."""
        return self.log.time

    @cached_property
    def force(self) -> np.ndarray:
        """(T, feet, 3) N, of the ground on each foot."""
        return np.einsum("pf,tpi->tfi", np.eye(len(self.log.robot.feet))[self.log.robot.point_foot], self.point_force)

    @property
    def completed(self) -> Log:
        """The log with the state of the base."""
        position, attitude = self.qpos[:, :3], self.qpos[:, 3:7]
        return replace(self.log, qpos=self.qpos, qvel=self.qvel, position=position, attitude=attitude)

    def record(self) -> Record:
        """The estimate as the record of a run under law ``time-stepping``: rigid contacts with Coulomb's cone.

        Its velocities have the low pass of its forces, so that the audit's balance is the residual of the estimate.
        """
        robot, T, P = self.log.robot, len(self.log), self.log.robot.point_count
        data = mujoco.MjData(robot.model)
        place, velocity, gap = np.zeros((T, P, 3)), np.zeros((T, P, 3)), np.zeros((T, P))
        for k in range(T):
            data.qpos[:] = self.qpos[k]
            mujoco.mj_kinematics(robot.model, data)
            mujoco.mj_comPos(robot.model, data)
            place[k] = lowest_places(robot, data)
            velocity[k] = (point_jacobian(robot, data) @ self.slow_qvel[k]).reshape(-1, 3)
            gap[k] = self.ground.gap(place[k])[0]
        loaded = np.linalg.norm(self.point_force, axis=2) > 0.0
        return Record(
            robot=robot,
            ground=self.ground,
            law=law("time-stepping"),
            dt=1.0 / self.log.rate,
            time=self.time,
            qpos=self.qpos,
            qvel=self.slow_qvel,
            ctrl=np.zeros((T, robot.model.nu)) if self.log.control is None else np.nan_to_num(self.log.control),
            force=self.point_force,
            position=place,
            velocity=velocity,
            gap=gap,
            mode=np.where(loaded, self.mode[:, robot.point_foot], 0),
            status=np.zeros(T),
            signals={"force_deviation": self.force_deviation, "residual": self.residual},
            info={
                "controller": f"estimated from {self.log.source}",
                "signals": {"force_deviation": "N", "residual": "weights"},
                "integrator": "none",
                "unclaimed": dict.fromkeys(SMEARED, "a low pass shows forces before a foot touches and after it left"),
            },
        )

    @cached_property
    def touch_downs(self) -> tuple[tuple[str, float], ...]:
        """Foot and time (s) of each touch-down, in order."""
        return self._events(lambda before, after: before == 0 and after > 0)

    @cached_property
    def lift_offs(self) -> tuple[tuple[str, float], ...]:
        """Foot and time (s) of each lift-off, in order."""
        return self._events(lambda before, after: before > 0 and after == 0)

    @cached_property
    def slides(self) -> tuple[tuple[str, float, float], ...]:
        """Foot, begin and end (s) of each slide, in order."""
        found = []
        for f, foot in enumerate(self.log.robot.feet):
            found += [(foot.name, float(self.time[a]), float(self.time[b - 1])) for a, b in runs(self.mode[:, f] == 2)]
        return tuple(sorted(found, key=lambda one: one[1]))

    def _events(self, is_one: Any) -> tuple[tuple[str, float], ...]:
        found = []
        for f, foot in enumerate(self.log.robot.feet):
            for k, (before, after) in enumerate(pairwise(self.mode[:, f])):
                if is_one(before, after):
                    found.append((foot.name, float(self.time[k + 1])))
        return tuple(sorted(found, key=lambda one: one[1]))

    @property
    def real_time(self) -> float:
        """Speed of the estimate on one core as a multiple of real time."""
        return 1.0 / (self.cpu_time * self.log.rate)

    def to_dict(self) -> dict[str, Any]:
        weight = self.log.robot.weight
        feet = {}
        for f, foot in enumerate(self.log.robot.feet):
            on = self.mode[:, f] > 0
            feet[foot.name] = {
                "in_contact": float(on.mean()),
                "mean_vertical_force_N": float(self.force[on, f, 2].mean()) if on.any() else 0.0,
                "largest_vertical_force_N": float(self.force[:, f, 2].max()),
                "mean_deviation_N": float(self.force_deviation[on, f, 2].mean()) if on.any() else 0.0,
                "touch_downs": [t for name, t in self.touch_downs if name == foot.name],
                "lift_offs": [t for name, t in self.lift_offs if name == foot.name],
                "slides": [[a, b] for name, a, b in self.slides if name == foot.name],
            }
        return {
            "source": self.log.source,
            "robot": self.log.robot.name,
            "samples": len(self.log),
            "duration_s": float(self.time[-1]),
            "weight_N": weight,
            "feet": feet,
            "residual_weights": float(np.sqrt(np.mean(self.residual**2))),
            "base_deviation": self._deviations(),
            "times_real_time": self.real_time,
            "said": [*self.log.said, *self.said],
        }

    def _deviations(self) -> dict[str, float]:
        """Root mean squares of observable deviations: heading and horizontal place are not observable on level
        ground.
        """
        parts = {"tilt_rad": slice(0, 2), "velocity_m_s": slice(3, 6), "height_m": slice(8, 9)}
        return {
            name: float(np.sqrt((self.base_deviation[:, own] ** 2).sum(axis=1).mean())) for name, own in parts.items()
        }

    def __str__(self) -> str:
        found = self.to_dict()
        lines = [f"{found['source']}: {found['samples']} samples, {found['duration_s']:.3g} s of {found['robot']}"]
        lines += [
            f"{name}: {own['mean_vertical_force_N']:.1f} ± {own['mean_deviation_N']:.1f} N in contact "
            f"({100 * own['in_contact']:.0f} % of the time), {len(own['touch_downs'])} touch-downs, "
            f"{len(own['slides'])} slides"
            for name, own in found["feet"].items()
        ]
        return "\n".join(lines)

    __repr__ = __str__


@public
def estimate(
    log: Log,
    *,
    ground: Ground | None = None,
    friction: NotNegative | None = None,
    cutoff: Positive = 30.0,
    causal: bool = False,
) -> Estimate:
    """Contact forces, modes and the state of the base of a log, with their uncertainty.

    ``ground`` is the ground under the robot, level with friction 0.7 by default; ``friction`` replaces its coefficient,
    which bounds the forces. ``cutoff``, Hz, is that of the low pass on joints, torques and IMU; ``causal`` uses no
    later samples, as on the robot itself.
    """
    ground = Ground.plane(friction=0.7) if ground is None else ground
    robot = log.robot
    if not robot.model.njnt or robot.model.jnt_type[0] != FREE:
        raise FootfallError(f"estimate is for robots with a free base, and that of {robot.name} is not free")
    if robot.model.nv > 6 and not log.logged.any():
        raise FootfallError(
            f"{log.source} has no joint of {robot.name}: it has {shortened(log.unused) or 'none'}; is it this robot's, "
            "or do names={'NAME IN THE LOG': 'JOINT'} (--name) say which is which?"
        )
    signals = signals_of(log, cutoff, causal)
    forces = _Forces(log, signals, ground, ground.dynamic_friction if friction is None else friction)
    base = _Base(log, signals, ground, round(0.5 * log.rate / cutoff), causal)
    T, F = len(log), len(robot.feet)
    force, variance = np.zeros((T, robot.point_count, 3)), np.zeros((T, F, 3))
    mode, loaded = np.zeros((T, F), dtype=int), np.ones(F, dtype=bool)
    centre, velocity, unexplained = np.zeros((T, F, 3)), np.zeros((T, F, 3)), np.zeros((T, 2))
    start = clock.process_time()
    for k in range(T):
        if k == 1:  # the first sample includes compilation
            start = clock.process_time()
        base.predict(k)
        seen = forces.at(k, base.turn, base.place)
        force[k], variance[k], unexplained[k] = seen.force, seen.variance, (seen.missed, seen.surplus)
        loaded = forces.spread.T @ seen.force[:, 2] / robot.weight > np.where(loaded & (k > 0), UNLOADED, LOADED)
        centre[k], velocity[k] = seen.centre, seen.velocity
        mode[k] = base.update(k, seen, loaded)
    if not causal:
        base.smooth()
        force = np.einsum("tij,tkj,tpk->tpi", base.turns, base.before, force)
    mode[~_lasting(mode > 0, base.smear + 1)] = 0  # impacts on other feet appear as very short contacts
    speed = np.where(mode > 0, base.slip(centre, velocity), np.nan)
    sliding = _lasting((mode == 2) & (speed > np.sqrt(GATE) * STILL), max(1, round(SLIDES * log.rate)))
    mode = np.where(sliding, 2, np.minimum(mode, 1))
    # The residual per surplus row estimates the noise of the rows, of sensors and model together.
    noise = np.sqrt((unexplained[:, 0] ** 2).sum() / unexplained[:, 1].sum())
    qpos, qvel = base.coordinates()
    spent = (clock.process_time() - start) / max(T - 1, 1)
    slow = low_passed(qvel, log.rate, cutoff, causal=causal)
    if causal:  # differences are backward here, and forward in a recording
        slow = np.vstack([slow[:1], slow[:-1]])
    return Estimate(
        log, ground, force, noise * robot.weight * np.sqrt(variance), mode, speed, qpos, qvel,
        slow, base.deviations(), unexplained[:, 0], spent, signals.said,
    )  # fmt: skip


def _lasting(flags: np.ndarray, least: int) -> np.ndarray:
    """Flags (T, F) that last for at least ``least`` samples, or reach the first or last one."""
    kept = np.zeros_like(flags)
    for f in range(flags.shape[1]):
        for a, b in runs(flags[:, f]):
            kept[a:b, f] = b - a >= least or a == 0 or b == len(flags)
    return kept


class _Seen(NamedTuple):
    """Forces of one sample, and the pressure centres of the feet."""

    force: np.ndarray  # (P, 3) N, world frame
    variance: np.ndarray  # (F, 3) of the feet's forces, in squared weights, for rows of unit noise
    missed: float  # norm of the residual, in weights
    surplus: float  # number of rows less number of forces
    centre: np.ndarray  # (F, 3) m, pressure centres, in the root's frame
    velocity: np.ndarray  # (F, 3) m/s, of the feet there, relative to the root, in its frame


class _Forces(Inverse):
    """The forces inside the friction cones nearest to the residual of inverse dynamics."""

    def __init__(self, log: Log, signals: Signals, ground: Ground, friction: float) -> None:
        super().__init__(log.robot, signals)
        self.ground = ground
        angle = 2.0 * np.pi * np.arange(EDGES) / EDGES
        self.edges = np.column_stack([friction * np.cos(angle), friction * np.sin(angle), np.ones(EDGES)])
        self.spread = np.eye(len(self.robot.feet))[self.robot.point_foot]  # (P, F)
        self.edge_point = np.repeat(np.arange(self.robot.point_count), EDGES)
        n = len(self.edge_point)
        self.program, self.work = empty_program(n, n, 0), active_set(n, n, 0)  # forces along edges are at least 0
        self.program.upper[:] = UNBOUNDED

    def at(self, k: int, turn: np.ndarray, place: np.ndarray) -> _Seen:
        """The forces of sample ``k``, with the root's attitude ``turn`` (3, 3) and ``place`` (3,)."""
        robot, program = self.robot, self.program
        needed = self.needed(k)
        places = lowest_places(robot, self.data)
        jacobian = point_jacobian(robot, self.data, places)
        gap, normal = self.ground.gap(place + places @ turn.T)
        world = self.edges @ _frames(normal)  # (P, E, 3)
        ways = world @ turn  # in the root's frame
        columns = (ways @ jacobian.reshape(-1, 3, self.model.nv)).reshape(-1, self.model.nv).T
        rows = self._known_rows(np.column_stack([columns * robot.weight, needed]))
        matrix, wanted = rows[:, :-1], rows[:, -1]
        doubt = PRIOR * (1.0 + 9.0 * (np.maximum(gap, 0.0) / (HIGH * self.height)) ** 2)
        program.H[:] = matrix.T @ matrix
        program.H.ravel()[:: len(program.f) + 1] += np.repeat(doubt, EDGES)
        program.f[:] = -matrix.T @ wanted
        solve_quadratic_program(program, self.work)
        pressing = np.flatnonzero(self.work.side == 0)
        found = np.zeros(len(program.f))
        found[pressing] = self.work.x[pressing]
        of_foot = self.spread[self.edge_point[pressing]][:, :, None] * world.reshape(-1, 1, 3)[pressing]
        acting = of_foot.reshape(len(pressing), 3 * len(robot.feet))
        doubts = np.linalg.solve(program.H[np.ix_(pressing, pressing)], acting)
        variance = (acting * doubts).sum(axis=0).reshape(-1, 3)
        share = found.reshape(-1, EDGES)
        load = self.spread * share.sum(axis=1)[:, None]
        load /= np.maximum(load.sum(axis=0), 1e-12)
        moved = (jacobian @ self.signals.sharp[k]).reshape(-1, 3)
        missed = matrix @ found - wanted
        return _Seen(
            (share[:, None] @ world)[:, 0] * robot.weight,
            variance,
            float(np.sqrt(missed @ missed)),
            max(len(wanted) - len(pressing), 1),  # edges share what the prior tells, so that one row at least is left
            load.T @ places,
            load.T @ moved,
        )

    def _known_rows(self, columns: np.ndarray) -> np.ndarray:
        """Columns (nv, m) in rows of unit noise, without rows of unknown torques and of forces inside loops."""
        scaled: np.ndarray = columns / self.scale[:, None]
        return self.hidden().T @ scaled if self.model.neq else scaled[self.signals.known]


def _frames(normal: np.ndarray) -> np.ndarray:
    """(P, 3, 3) two tangents and the normal as rows."""
    x, y, z = normal.T
    size = np.sqrt(x * x + z * z)
    p, q = z / size, -x / size  # y cross the normal is (p, 0, q)
    found = np.zeros((len(normal), 3, 3))
    found[:, 0, 0], found[:, 0, 2], found[:, 2] = p, q, normal
    found[:, 1, 0], found[:, 1, 1], found[:, 1, 2] = y * q, z * p - x * q, -y * p
    return found


class _Base:
    """A Kalman filter of the root's attitude, velocity and place and of the IMU's biases, errors in the world frame."""

    def __init__(self, log: Log, signals: Signals, ground: Ground, smear: int, causal: bool) -> None:
        T = len(log)
        self.smear, self.loaded_for = smear, np.full(len(log.robot.feet), smear)  # samples
        self.leaves_for = np.zeros(len(log.robot.feet), dtype=int)
        self.log, self.signals, self.ground = log, signals, ground
        self.measured = None if log.attitude is None else matrices(log.attitude)
        self.turn, self.place = self._first(causal)
        placed = log.position is not None
        self.velocity, self.spin, self.push = log.qvel[0, :3].copy(), np.zeros(3), np.zeros(3)
        self.covariance = np.diag(np.repeat([0.1, 0.1 if placed else 1.0, 0.1, 0.05, 0.3], 3) ** 2)
        self.states: list[list[tuple[np.ndarray, ...]]] = [[], []]  # predicted and updated
        self.covariances = np.zeros((2, T, 15, 15))
        self.steps = np.zeros((T, 15, 15))

    def _first(self, causal: bool) -> tuple[np.ndarray, np.ndarray]:
        """Attitude and place of the first sample: as measured; else upright by the accelerometer, or as at home."""
        log = self.log
        if self.measured is not None:
            turn = self.measured[0]
        else:
            Rotation = optional_package("scipy.spatial.transform").Rotation
            home = matrices(log.robot.home[None, 3:7])[0]
            up = self._mean_force(AT_ONCE if causal else SOON)
            turn = home
            if abs(np.linalg.norm(up) / np.linalg.norm(log.robot.gravity) - 1.0) < NEAR_FACTOR:
                turn = home @ Rotation.align_vectors([home_up(log.robot)], [up / np.linalg.norm(up)])[0].as_matrix()
        if log.position is not None:
            return turn, log.position[0].copy()
        data = mujoco.MjData(log.robot.model)
        data.qpos[:] = log.qpos[0]
        mujoco.mju_mat2Quat(data.qpos[3:7], turn.ravel())
        data.qpos[:3] = 0.0
        mujoco.mj_kinematics(log.robot.model, data)
        gap, normal = self.ground.gap(lowest_places(log.robot, data))
        return turn, np.array([0.0, 0.0, -float((gap / normal[:, 2]).min())])

    def _mean_force(self, lasting: float) -> np.ndarray:
        """(3,) m/s2, mean reading of the accelerometer over the first ``lasting`` s, in the frame of the first sample.

        The gyroscope turns it back: the mean over some steps is gravity, but for the change of velocity in that time.
        """
        count = min(len(self.log), max(2, round(lasting * self.log.rate)))
        spins = 0.5 * (self.signals.gyro[: count - 1] + self.signals.gyro[1:count]) / self.log.rate
        turn, total = UNTURNED, self.signals.accel[0]
        for spin, accel in zip(spins, self.signals.accel[1:count], strict=True):
            turn = turn @ rotation_matrix(spin)
            total = total + turn @ accel
        return total / count

    def predict(self, k: int) -> None:
        """Predict the state of sample ``k`` from the last one by the IMU."""
        if k:
            step = float(self.log.time[k] - self.log.time[k - 1])
            spin = 0.5 * (self.signals.gyro[k - 1] + self.signals.gyro[k]) - self.spin
            force = self.turn @ (0.5 * (self.signals.accel[k - 1] + self.signals.accel[k]) - self.push)
            rate = force + self.log.robot.gravity
            ahead = self.steps[k]
            ahead.ravel()[::16] = 1.0
            ahead[ATTITUDE, SPIN], ahead[VELOCITY, PUSH] = -step * self.turn, -step * self.turn
            ahead[VELOCITY, ATTITUDE], ahead[PLACE, VELOCITY] = -step * _cross(force), step * UNTURNED
            self.place = self.place + step * self.velocity + 0.5 * step**2 * rate
            self.velocity = self.velocity + step * rate
            self.turn = self.turn @ rotation_matrix(step * spin)
            noise = np.repeat(
                [(GYRO * step) ** 2, (ACCEL * step) ** 2, 0.0, GYRO_WANDER**2 * step, ACCEL_WANDER**2 * step], 3
            )
            self.covariance = ahead @ self.covariance @ ahead.T + np.diag(noise)
        self._keep(0, k)

    def _keep(self, which: int, k: int) -> None:
        self.states[which].append((self.turn, self.velocity, self.place, self.spin, self.push))
        self.covariances[which, k] = self.covariance

    def update(self, k: int, seen: _Seen, loaded: np.ndarray) -> np.ndarray:
        """Correct the state, assuming that loaded feet rest on the ground; returns modes (F,) from samples so far."""
        rows: list[np.ndarray] = []
        missed: list[np.ndarray] = []
        noise: list[float] = []

        def put(row: np.ndarray, miss: np.ndarray, size: float) -> None:
            rows.append(row)
            missed.append(miss)
            noise.extend([size**2] * len(row))

        arms = seen.centre @ self.turn.T
        gap, normal = self.ground.gap(self.place + arms)
        moving = (seen.velocity - seen.centre @ _cross(self.spin).T) @ self.turn.T
        self.loaded_for = np.where(loaded, self.loaded_for + 1, 0)
        mode = np.zeros(len(loaded), dtype=int)
        sliding: list[tuple[float, np.ndarray, np.ndarray]] = []
        rest = False
        judged = []
        for f in map(int, np.flatnonzero(loaded)):
            row, miss, up = np.zeros((3, 15)), -(self.velocity + moving[f]), normal[f]
            row[:, ATTITUDE], row[:, VELOCITY] = -_cross(moving[f]), UNTURNED
            row[:, SPIN] = self.turn @ _cross(seen.centre[f])
            doubt = row @ self.covariance @ row.T + STILL**2 * UNTURNED
            leaves = (up @ miss) ** 2 > GATE * float(up @ doubt @ up)
            judged.append((float(miss @ np.linalg.solve(doubt, miss)), f, leaves, row, miss, up))
        for still, f, leaves, row, miss, up in sorted(judged, key=lambda one: one[:2]):  # what rests comes first
            mode[f] = 1 if still < GATE else 0 if leaves else 2
            self.leaves_for[f] = self.leaves_for[f] + 1 if leaves else 0
            if self.loaded_for[f] <= self.smear:  # the low pass smears the load to before touch-down,
                continue
            mode[f] = max(mode[f], 1)
            if 0 < self.leaves_for[f] <= self.smear or (leaves and rest):  # and to after lift-off
                continue
            if leaves and self.log.position is None:  # the velocity was not known, as after a fall
                self.covariance[VELOCITY, VELOCITY] += (up @ miss) ** 2 * np.outer(up, up)
            height = np.zeros((1, 15))
            height[0, ATTITUDE], height[0, PLACE] = _cross(arms[f]) @ up, up
            if gap[f] ** 2 > GATE * float((height @ self.covariance @ height.T)[0, 0] + LEVEL**2):
                if self.log.position is None:  # the ground is elsewhere, as in a log that begins in the air
                    self.covariance[PLACE, PLACE] += gap[f] ** 2 * np.outer(up, up)
            put(height, np.array([-gap[f]]), LEVEL)
            if still < GATE:
                rest = True
                put(row, miss, STILL)
            else:  # it slides along the ground
                put(up @ row[None], np.array([up @ miss]), STILL)
                sliding.append((still, row, miss))
        if self.log.position is None and sliding and not rest:  # no foot rests: the slowest one nearly does
            still, row, miss = min(sliding, key=lambda one: one[0])
            put(row, miss, STILL * float(np.sqrt(still)))
        if self.measured is not None:
            put(np.eye(15)[ATTITUDE], rotation_vector(self.measured[k] @ self.turn.T), UPRIGHT)
        if self.log.position is not None:
            put(np.eye(15)[PLACE], self.log.position[k] - self.place, PLACED)
        if rows:
            seen_by = np.vstack(rows)
            spread = self.covariance @ seen_by.T
            gain = np.linalg.solve(seen_by @ spread + np.diag(noise), spread.T).T
            self.covariance = self.covariance - gain @ spread.T
            self._correct(gain @ np.concatenate(missed))
        self._keep(1, k)
        return mode

    def _correct(self, error: np.ndarray) -> None:
        self.turn = rotation_matrix(error[ATTITUDE]) @ self.turn
        self.velocity, self.place = self.velocity + error[VELOCITY], self.place + error[PLACE]
        self.spin, self.push = self.spin + error[SPIN], self.push + error[PUSH]

    @cached_property
    def before(self) -> np.ndarray:
        """(T, 3, 3) predicted attitudes, with which forces were estimated."""
        return np.array([state[0] for state in self.states[0]])

    @property
    def turns(self) -> np.ndarray:
        """(T, 3, 3) attitudes after all corrections."""
        return np.array([state[0] for state in self.states[1]])

    def smooth(self) -> None:
        """Smooth the states backwards, so that each uses later samples, too."""
        predicted, updated = self.states
        for k in range(len(updated) - 2, -1, -1):
            gain = np.linalg.solve(self.covariances[0, k + 1], self.steps[k + 1] @ self.covariances[1, k]).T
            turned = rotation_vector(updated[k + 1][0] @ predicted[k + 1][0].T)
            others = [after - before for after, before in zip(updated[k + 1][1:], predicted[k + 1][1:], strict=True)]
            self.turn, self.velocity, self.place, self.spin, self.push = updated[k]
            self._correct(gain @ np.concatenate([turned, *others]))
            updated[k] = (self.turn, self.velocity, self.place, self.spin, self.push)
            more = self.covariances[1, k + 1] - self.covariances[0, k + 1]
            self.covariances[1, k] += gain @ more @ gain.T

    def slip(self, centre: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """(T, F) m/s, tangential speed of places (T, F, 3) with velocities relative to the root, in its frame."""
        turns, own, place, spin, _ = (np.array(one) for one in zip(*self.states[1], strict=True))
        moving = own[:, None] + (velocity - np.cross(spin[:, None], centre)) @ turns.transpose(0, 2, 1)
        where = place[:, None] + centre @ turns.transpose(0, 2, 1)
        normal = self.ground.gap(where.reshape(-1, 3))[1].reshape(where.shape)
        along = moving - (moving * normal).sum(axis=2, keepdims=True) * normal
        return np.asarray(np.linalg.norm(along, axis=2))

    def coordinates(self) -> tuple[np.ndarray, np.ndarray]:
        """(T, nq) and (T, nv) with the state of the root."""
        Rotation = optional_package("scipy.spatial.transform").Rotation
        turns, velocity, place, spin, _ = (np.array(own) for own in zip(*self.states[1], strict=True))
        qpos, qvel = self.log.qpos.copy(), self.log.qvel.copy()
        qpos[:, :3], qpos[:, 3:7] = place, Rotation.from_matrix(turns).as_quat(scalar_first=True)
        qvel[:, :3], qvel[:, 3:6] = velocity, self.signals.gyro - spin
        return qpos, qvel

    def deviations(self) -> np.ndarray:
        """(T, 9) of attitude, velocity and place."""
        return np.sqrt(np.maximum(np.diagonal(self.covariances[1], axis1=1, axis2=2)[:, :9], 0.0))


def _cross(vector: np.ndarray) -> np.ndarray:
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
