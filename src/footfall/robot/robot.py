"""The value ``Robot``, which can be printed, compared, and converted to JSON and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any
from zlib import crc32

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from footfall.arguments import public
from footfall.errors import RobotError
from footfall.files.html_table import html_table
from footfall.frozen_values import made_again
from footfall.given_numbers import Positive
from footfall.robot.body_points import BodyPoints, body_points
from footfall.robot.facing import Facing, as_forward, find_facing
from footfall.robot.feet import Foot, check_feet, points_on_feet
from footfall.robot.model import (
    AT_JOINT,
    BALL,
    FREE,
    SLIDE,
    Tie,
    base_of,
    chain_of,
    check_stored,
    compiled,
    model_bytes,
    moving_bodies,
    ties_of,
    written,
)
from footfall.robot.pose import posed, set_down


@public
@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A legged robot: its rigid bodies, its feet, the pose it stands in. Made by ``load_robot``.

    Attributes:
        name: what it is called.
        model: the compiled MuJoCo model; not to be changed.
        feet: sole outline and contact points of each foot.
        home: (nq,) standing pose, m and rad; the lowest contact point touches z = 0.
        home_ctrl: (nu,) controls that go with it: those of the keyframe, else the joint angle for position
            servos and 0 for motors. (A keyframe whose controls are all 0 counts as having none.)
        mjcf: the XML the model is built from, None for a robot made from an ``MjModel``.
        assets: mesh and texture files the XML needs, by name:
            ``MjSpec.from_string(mjcf, assets=dict(assets))``.
        parameters: the options a built-in robot was made with, SI units.
        forward: (3,) horizontal unit vector, world frame: its forward direction in the home pose; found from its legs
            if left out.
    """

    name: str
    model: mujoco.MjModel
    feet: tuple[Foot, ...]
    home: np.ndarray
    home_ctrl: np.ndarray
    mjcf: str | None = None
    assets: Mapping[str, bytes] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    forward: Any = None  # as :func:`as_forward` takes it; an array once made

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "feet", tuple(self.feet))
        set_(self, "home", _frozen(self.home))
        set_(self, "home_ctrl", _frozen(self.home_ctrl))
        set_(self, "assets", MappingProxyType(dict(self.assets)))
        set_(self, "parameters", MappingProxyType(dict(self.parameters)))
        for name, count in (("home", self.model.nq), ("home_ctrl", self.model.nu)):
            values = getattr(self, name)
            if values.shape != (count,) or not np.isfinite(values).all():
                raise RobotError(f"{name} of {self.name} must be {count} finite numbers, got shape {values.shape}")
        check_feet(self.model, self.feet)
        set_(self, "forward", _frozen(self.facing.forward if self.forward is None else as_forward(self.forward)))

    @cached_property
    def facing(self) -> Facing:
        """The forward direction found from its legs, with the evidence for and against it."""
        return find_facing(self.model, self.home, self.feet)

    @cached_property
    def heading(self) -> float:
        """Angle of ``forward`` in the home pose, rad from the world's x axis to the left."""
        return float(np.arctan2(self.forward[1], self.forward[0]))

    @cached_property
    def forward_in_root(self) -> np.ndarray:
        """(3,) ``forward`` in the frame of the root body."""
        data = posed(self.model, self.home)
        return _frozen(data.body(self.root).xmat.reshape(3, 3).T @ self.forward)

    @cached_property
    def mass(self) -> float:
        """Mass of all bodies that can move, kg."""
        return float(self.model.body_mass[moving_bodies(self.model)].sum())

    @cached_property
    def has_inertia(self) -> bool:
        """Whether the inertia matrix of the home pose has a Cholesky factor."""
        data, inertia = posed(self.model, self.home), np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_makeM(self.model, data)
        mujoco.mj_fullM(self.model, data, inertia)
        try:
            np.linalg.cholesky(inertia)
        except np.linalg.LinAlgError:
            return False
        return True

    @cached_property
    def gravity(self) -> np.ndarray:
        """(3,) m/s2, the model's gravity, zero where the model switches it off."""
        off = self.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        return np.zeros(3) if off else self.model.opt.gravity.copy()

    @cached_property
    def weight(self) -> float:
        """Mass times the model's gravity, N."""
        return self.mass * float(np.linalg.norm(self.gravity))

    @property
    def point_count(self) -> int:
        """Number of contact points P of all feet together."""
        return len(self.point_foot)

    @cached_property
    def point_body(self) -> np.ndarray:
        """(P,) id of the body each contact point is fixed to."""
        return _frozen([self.model.body(f.body).id for f in self.feet for _ in f.points], int)

    @cached_property
    def point_foot(self) -> np.ndarray:
        """(P,) index in ``feet`` of the foot each contact point belongs to."""
        return _frozen([i for i, f in enumerate(self.feet) for _ in f.points], int)

    @cached_property
    def point_position(self) -> np.ndarray:
        """(P, 3) contact points in their bodies' frames, m."""
        return _frozen(np.vstack([f.points for f in self.feet]))

    @cached_property
    def point_radius(self) -> np.ndarray:
        """(P,) radius around each contact point, m; 0 where it is sharp."""
        return _frozen(np.concatenate([f.radius for f in self.feet]))

    @cached_property
    def point_axes(self) -> np.ndarray:
        """(P, 3, 3) semi-axes of ellipsoids as columns, body frame, m; zero for all other contact points."""
        return _frozen(np.concatenate([f.axes for f in self.feet]))

    @cached_property
    def base(self) -> int:
        """Id of the lowest common ancestor of all feet; the root if there is one foot, or several robots."""
        return base_of(self.model, self.point_body.tolist())

    @property
    def root(self) -> str:
        """Name of the body of the first joint, the base of a free robot."""
        return str(self.model.body(int(self.model.jnt_bodyid[0])).name)

    @cached_property
    def held(self) -> bool:
        """Whether its base is fixed in the world, or connected to it by hinges alone, so that it cannot fall."""
        carried = np.isin(self.model.jnt_bodyid, chain_of(self.model, self.base))
        return not np.isin(self.model.jnt_type[carried], (FREE, SLIDE)).any()

    @cached_property
    def others(self) -> BodyPoints:
        """Contact points of bodies other than feet, on their collision geometry."""
        return body_points(self.model, self.home, self.feet)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all joints, in MuJoCo's order."""
        return tuple(self.model.joint(j).name or f"joint{j}" for j in range(self.model.njnt))

    @cached_property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of all actuators, in the order of the controls; an unnamed one is named after the joint that it alone
        drives.
        """
        at, model = self.model.actuator_trnid[:, 0].tolist(), self.model
        alone = [model.actuator_trntype[i] in AT_JOINT and at.count(at[i]) == 1 for i in range(model.nu)]
        own = [self.joint_names[at[i]] if alone[i] else f"actuator{i}" for i in range(model.nu)]
        return tuple(model.actuator(i).name or name for i, name in enumerate(own))

    @cached_property
    def actuated(self) -> tuple[str, ...]:
        """Names of the joints that an actuator acts on directly, in the order of the controls."""
        model = self.model
        ids = [int(model.actuator_trnid[i, 0]) for i in range(model.nu) if model.actuator_trntype[i] in AT_JOINT]
        return tuple(self.joint_names[j] for j in dict.fromkeys(ids))

    @cached_property
    def root_motors(self) -> np.ndarray:
        """(nu,) which actuators apply external forces: those on a free or sliding root."""
        model = self.model
        roots = model.jnt_bodyid[np.isin(model.jnt_type, (FREE, SLIDE)) & (model.body_parentid[model.jnt_bodyid] == 0)]
        at_joint = np.isin(model.actuator_trntype, list(AT_JOINT))
        joint = np.where(at_joint, model.actuator_trnid[:, 0], 0)
        return _frozen(at_joint & np.isin(model.jnt_bodyid[joint], roots), bool)

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """Equalities by which one hinge or slide follows another, or is held: gears, coupled hips, mimic joints."""
        return ties_of(self.model)[0]

    @cached_property
    def other_equalities(self) -> tuple[str, ...]:
        """A sentence on each equality of the model that is not in ``ties``, such as a closed loop."""
        return ties_of(self.model)[1]

    @public
    def dof_name(self, dof: int) -> str:
        """The name of degree of freedom ``dof`` in messages: "left_knee", "base x", "base pitch"."""
        joint = int(self.model.dof_jntid[dof])
        part = dof - int(self.model.jnt_dofadr[joint])
        if self.model.jnt_type[joint] == FREE:
            return "base " + ("x", "y", "z", "roll", "pitch", "yaw")[part]
        if self.model.jnt_type[joint] == BALL:
            return f"{self.joint_names[joint]} {'xyz'[part]}"
        return self.joint_names[joint]

    def tie_name(self, tie: Tie) -> str:
        """A tie in words: "right_hip = 0.5 * left_hip + 0.1"."""
        follows = "" if tie.leader < 0 else f"{tie.ratio:.4g} * {self.dof_name(tie.leader)} + "
        return f"{self.dof_name(tie.dof)} = {follows}{tie.offset:.4g}"

    @public
    def with_points(self, points: str | int | ArrayLike | Mapping[str, ArrayLike]) -> Robot:
        """The same robot with other contact points, given as ``load_robot`` takes them."""
        feet = points_on_feet(self.feet, points)
        return replace(self, feet=feet, home=set_down(self.model, self.home, feet))

    @public
    def scaled(self, *, mass: Positive = 1.0, strength: Positive = 1.0) -> Robot:
        """The same robot with all masses and inertias times ``mass``, and all torques of its motors times ``strength``.

        Gains and limits of servos count as part of their strength.
        """
        if mass == strength == 1.0:
            return self
        spec = self.spec()
        for body in spec.bodies:
            if body.explicitinertial:
                body.mass *= mass
                body.inertia, body.fullinertia = mass * np.array(body.inertia), mass * np.array(body.fullinertia)
        for geom in spec.geoms:
            geom.mass, geom.density = mass * geom.mass, mass * geom.density
        for actuator in spec.actuators:
            actuator.gainprm = strength * np.array(actuator.gainprm)
            actuator.biasprm = strength * np.array(actuator.biasprm)
            actuator.forcerange = strength * np.array(actuator.forcerange)
        for joint in spec.joints:
            joint.actfrcrange = strength * np.array(joint.actfrcrange)
        return self.of_spec(spec)

    def spec(self) -> mujoco.MjSpec:
        """A new spec of its model, which the caller may change."""
        if self.mjcf is None:
            raise RobotError(f"{self.name} was made from a compiled model, which cannot be changed: load its XML")
        return mujoco.MjSpec.from_string(self.mjcf, assets=dict(self.assets))

    def of_spec(self, spec: mujoco.MjSpec, **changes: Any) -> Robot:
        """The same robot with the model of a changed spec, and other ``changes`` of its fields."""
        mjcf = written(spec, self.name)
        return replace(self, mjcf=mjcf, model=compiled(mjcf, self.assets, self.name), **changes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Robot):
            return NotImplemented
        if self is other:
            return True
        return (self._content, dict(self.assets)) == (other._content, dict(other.assets)) and (
            self.mjcf is not None or model_bytes(self.model) == model_bytes(other.model)
        )

    def __hash__(self) -> int:
        return hash(self._content)

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        """The values by which robots are compared and hashed, without their files; a robot without XML has a checksum
        of its model, so that variations of one robot differ in their hash.
        """
        model = self.mjcf or crc32(model_bytes(self.model))
        return model, tuple(foot.content() for foot in self.feet), self.home.tobytes(), self.forward.tobytes()

    def __reduce__(self) -> Any:
        return made_again(self)

    def __repr__(self) -> str:
        feet = ", ".join(f"{f.name} ({len(f.points)})" for f in self.feet)
        degrees, actuators, points = self.model.nv, self.model.nu, self.point_count
        return (
            f"Robot('{self.name}', {self.mass:.4g} kg, {degrees} degree{'s'[: degrees != 1]} of freedom, "
            f"{actuators} actuator{'s'[: actuators != 1]}, {points} contact point{'s'[: points != 1]} on feet: {feet})"
        )

    def _repr_html_(self) -> str:
        """The representation in notebooks, with a table of its feet."""
        lines = [(foot.name, foot.body, str(len(foot.points))) for foot in self.feet]
        return html_table(repr(self), ("foot", "body", "contact points"), lines)

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold and ``Robot.from_dict`` takes.

        A robot made from an ``MjModel`` carries MuJoCo's binary model, which only the same MuJoCo version
        reads.
        """
        binary = model_bytes(self.model) if self.mjcf is None else None
        return {
            "name": self.name,
            "mjcf": self.mjcf,
            "mjb": None if binary is None else base64.b64encode(binary).decode(),
            "assets": {key: base64.b64encode(value).decode() for key, value in self.assets.items()},
            "feet": [foot.to_dict() for foot in self.feet],
            "home": self.home.tolist(),
            "home_ctrl": self.home_ctrl.tolist(),
            "parameters": dict(self.parameters),
            "forward": self.forward.tolist(),
        }

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Robot:
        """The robot that ``to_dict`` described, its files as text or as bytes; nothing else is read."""
        try:
            values = dict(description)
            binary = values.pop("mjb")
            values["assets"] = {key: _bytes(value) for key, value in values["assets"].items()}
            values["feet"] = tuple(Foot(**foot) for foot in values["feet"])
            if values["mjcf"] is not None:
                check_stored(values["mjcf"], values["assets"])
                model = compiled(values["mjcf"], values["assets"], values["name"])
            else:
                model = mujoco.MjModel.from_binary_path("m.mjb", assets={"m.mjb": _bytes(binary)})
            return cls(model=model, **values)
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise RobotError(f"this is not a description of a robot: {type(error).__name__}: {error}") from error


def _bytes(value: str | bytes) -> bytes:
    """A file of a description, which JSON holds as text."""
    return value if isinstance(value, bytes) else base64.b64decode(value)


def _frozen(values: Any, dtype: type = float) -> np.ndarray:
    array: np.ndarray = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array
