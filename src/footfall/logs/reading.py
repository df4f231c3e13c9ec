"""A robot's log read from a file: channels matched to the robot, in SI units, on one clock, at even times.

    log = ff.load_log("walk.mcap", robot)
    print(log)                              # matched and unused channels, and notes

Names are matched by their words (:mod:`footfall.logs.meaning`). Conventions that a file does not state are estimated
from the data: degrees and signs of joints from their limits, factor, sign and delay of velocities from the rate of
positions, those of a gyroscope from the attitude, sign and delay of torques and the frame of an IMU from inverse
dynamics, the unit of an accelerometer from gravity, its sign and the order of a quaternion from the upward direction.
Joints determined by loops are solved for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np

from footfall.arguments import public
from footfall.errors import FootfallError, did_you_mean, optional_package, warn
from footfall.files.channels import Channel, read_channels
from footfall.files.stamps import at_times, stamps_of
from footfall.given_numbers import Positive
from footfall.logs.dynamics import close_loops, reversed_joint, torque_signs, torques_compared, undetermined
from footfall.logs.log import (
    LONGEST_DELAY,
    NEAR_FACTOR,
    NO_DELAY,
    Compared,
    Log,
    Match,
    home_up,
    peak,
    rate_of,
    rates_of,
    shortened,
    up_of,
)
from footfall.logs.meaning import QUANTITIES, Meanings, driven_joints, meanings, scalar_joints
from footfall.robot import Robot
from footfall.robot.model import FREE, HINGE
from footfall.robot.rotations import matrix_of
from footfall.standing import lowest_places

GRAVITY = 9.81  # m/s2
DEGREES = np.pi / 180.0
#: Units of torques by their number in a N m.
SMALLER = {1e3: "N mm", 1e2: "N cm"}
#: Largest reading of a real joint beyond its limits, rad, due to its stops and its encoder.
BEYOND = 0.1
#: Least correlation from which a factor or a delay is taken.
CORRELATED = 0.6


@public
def load_log(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    names: Mapping[str, str] | None = None,
    rate: Positive | None = None,
    signs: Mapping[str, float] | None = None,
    offsets: Mapping[str, float] | None = None,
    torque_constants: Mapping[str, float] | float | None = None,
    quaternion: Literal["wxyz", "xyzw"] | None = None,
) -> Log:
    """Read a robot's log: MCAP and ROS 2 bags, CSV, Parquet, NumPy's .npz; see :mod:`footfall.files.channels`.

    ``names`` maps names in the log to joints that are not found by their words; ``rate`` (1/s) gives times to a log
    without. ``signs`` (1 or -1) and ``offsets`` (rad, what the encoder reads in the model's zero) are those of joints
    whose model turns the other way or begins elsewhere; a sign holds for position, velocity, torque and command.
    ``torque_constants`` (N m/A, at the joint) turn currents into torques. ``quaternion`` ("wxyz" or "xyzw") is the
    order of quaternions in arrays, if gravity does not show it.
    """
    source = Path(path).expanduser()
    read = read_channels(source, rate)
    found = meanings([one.name for one in read.channels], robot, names or {})
    reading = _Reading(robot, {one.name: one for one in read.channels}, found, source.name, [*read.done, *found.done])
    reading.resample()
    wrong = next((f"{name} = {sign:g}" for name, sign in (signs or {}).items() if abs(sign) != 1.0), None)
    if wrong is not None:
        raise FootfallError(f"a sign is 1 or -1, and not {wrong}")
    reading.correct(_by_joint(robot, signs, 1.0, "sign"), _by_joint(robot, offsets, 0.0, "offset"), torque_constants)
    reading.turn(quaternion)
    return reading.log()


def _by_joint(robot: Robot, given: Mapping[str, float] | None, usual: float, what: str) -> dict[int, float]:
    known = {robot.joint_names[j]: j for j in scalar_joints(robot)}
    for name in given or {}:
        if name not in known:
            raise FootfallError(f"{robot.name} has no joint '{name}' to give a {what} for: {did_you_mean(name, known)}")
    return {j: float((given or {}).get(name, usual)) for name, j in known.items()}


@dataclass
class _Series:
    """A channel at even times, as far as it is corrected, and what it was corrected by."""

    name: str
    unit: str
    values: np.ndarray  # (T,)
    factor: float = 1.0
    delay: float = 0.0  # s

    def scale(self, factor: float) -> None:
        self.values, self.factor = factor * self.values, factor * self.factor


class _Reading:
    """A log on its way from channels to arrays."""

    def __init__(
        self, robot: Robot, channels: Mapping[str, Channel], found: Meanings, source: str, said: list[str]
    ) -> None:
        self.robot, self.channels, self.found, self.source, self.said = robot, channels, found, source, said
        self.series: dict[str, dict[Any, _Series]] = {}
        self.time = np.zeros(0)
        self.attitude: np.ndarray | None = None

    def resample(self) -> None:
        """Resample all matched channels at the even times of the joints, or else of the IMU or base."""
        used = {name for own in self.found.found.values() for name in own.values()}
        few = next((name for name in sorted(used) if self.channels[name].time.size < 3), None)
        if few is not None:
            raise FootfallError(
                f"{self.source}: channel '{few}' has samples at fewer than three times: were these rounded?"
            )
        leading = next(
            kind for kind in ("position", "gyro", "imu attitude", "base position") if self.found.found.get(kind)
        )
        first = self.channels[next(iter(self.found.found[leading].values()))]
        begin = max(self.channels[name].time[0] for name in used)
        end = min(self.channels[name].time[-1] for name in used)
        stamps = stamps_of(first.time)
        if not end > begin + 2.0 / stamps.rate:
            worst = max(used, key=lambda name: self.channels[name].time[0])
            raise FootfallError(
                f"{self.source}: its channels do not overlap in time; '{worst}' begins at "
                f"{self.channels[worst].time[0]:.6g} s, after another has ended: are their clocks the same?"
            )
        self.said.append(f"{leading}s come with {stamps}" + ("" if stamps.even else "; resampled by their stamps"))
        if stamps.gaps:
            warn(f"{self.source} has {stamps}; what lies in a gap is made up")
        measured = (own for kind, own in self.found.found.items() if not kind.startswith(("command", "control")))
        others = {name: stamps_of(self.channels[name].time) for own in measured for name in own.values()}
        longest = max(others, key=lambda name: others[name].longest if others[name].gaps else 0.0)
        if others[longest].gaps and others[longest].longest > stamps.longest:
            warn(f"{self.source}: '{longest}' has {others[longest]}; what lies in a gap is made up")
        self.time = np.arange(begin, end + 1e-9, 1.0 / stamps.rate)
        for kind, places in self.found.found.items():
            self.series[kind] = {}
            for place, name in places.items():
                one = self.channels[name]
                self.series[kind][place] = _Series(name, one.unit, at_times(self.time, one.time, one.values))

    def of_joint(self, joint: int) -> Iterator[_Series]:
        """Everything that was measured of a joint, or commanded."""
        return (self.series[kind][joint] for kind in JOINT_KINDS if joint in self.series.get(kind, {}))

    def correct(
        self, signs: Mapping[int, float], offsets: Mapping[int, float], constants: Mapping[str, float] | float | None
    ) -> None:
        """Units, signs, offsets and delays of joints."""
        self._degrees()
        for joint, sign in signs.items():
            for kind in POSITIONS:
                if joint in self.series.get(kind, {}):
                    self.series[kind][joint].values -= offsets[joint]
            for one in self.of_joint(joint):
                one.scale(sign)
        self._limits()
        self._velocities()
        currents, torques = self.series.get("current", {}), self.series.setdefault("torque", {})
        for joint, one in currents.items():
            constant = constants if not isinstance(constants, Mapping) else constants.get(self.robot.joint_names[joint])
            if constant is not None and joint not in torques:
                torques[joint] = replace(one)
                torques[joint].scale(float(constant))
        if currents and constants is None:
            self.said.append("currents are not used: torque_constants= (N m/A) makes torques of them")

    def _scaled(self, kind: str, values: np.ndarray, factor: float) -> np.ndarray:
        """A vector (T, 3) times a factor, which is noted for the table."""
        for one in self.series[kind].values():
            one.factor *= factor
        return factor * values

    def _degrees(self) -> None:
        """Take positions without a unit as degrees if they are within the limits of the joints, and not in radians."""
        angles = [(kind, j, one) for kind in POSITIONS for j, one in self.series.get(kind, {}).items() if not one.unit]
        angles = [one for one in angles if self.robot.model.jnt_type[one[1]] == HINGE]
        inside = {
            factor: np.mean(
                [self._within(j, factor * one.values) for kind, j, one in angles if kind == "position"] or 1.0
            )
            for factor in (1.0, DEGREES)
        }
        if inside[DEGREES] > 0.9 and inside[DEGREES] > inside[1.0] + 0.2:
            self.said.append("positions without a unit are in degrees: in radians they are outside the joints' limits")
            for _, _, one in angles:
                one.scale(DEGREES)

    def _within(self, joint: int, values: np.ndarray) -> float:
        """The share of samples within the limits of a joint, or within a turn."""
        model = self.robot.model
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-2.0 * np.pi, 2.0 * np.pi)
        return float(np.mean((values > low - BEYOND) & (values < high + BEYOND)))

    def _limits(self) -> None:
        """Turn joints that are inside their limits with the other sign alone; warn of others outside them."""
        for joint, position in self.series.get("position", {}).items():
            if self._within(joint, position.values) >= 0.5:
                continue
            name = self.robot.joint_names[joint]
            if self._within(joint, -position.values) > 0.95:
                self._reverse(joint, "is inside its limits with the other sign alone: reversed")
                continue
            warn(
                f"{self.source}: joint '{name}' is outside its limits in most samples: an offset (offsets=), or "
                "another joint?"
            )

    def _velocities(self) -> None:
        """Bring velocities to the unit, sign and clock of positions, if both are logged and vary."""
        positions, velocities = self.series.get("position", {}), self.series.get("velocity", {})
        found = {
            joint: compared(np.gradient(positions[joint].values, self.time), one.values, self.rate)
            for joint, one in velocities.items()
            if joint in positions
        }
        told = {joint: one for joint, one in found.items() if abs(one.correlation) > CORRELATED}
        if not told:
            return
        unit = _unit_factor(float(np.median([abs(one.factor) for one in told.values()])))
        delay = float(np.median([one.delay for one in told.values()]))
        for joint, one in velocities.items():
            one.scale(float(np.sign(told[joint].factor) if joint in told else 1.0) / unit)
            self._advance(one, delay)
        if unit != 1.0:
            self.said.append(f"velocities are {unit:.4g} times the rate of positions: taken to be in deg/s, or rad/s")

    def _advance(self, one: _Series, delay: float) -> None:
        """Undo a delay (s) of more than resampling may cause."""
        if abs(delay) * self.rate > NO_DELAY:
            one.values, one.delay = np.interp(self.time + delay, self.time, one.values), delay

    @property
    def rate(self) -> float:
        return float((len(self.time) - 1) / (self.time[-1] - self.time[0]))

    def vector(self, kind: str, count: int) -> np.ndarray | None:
        """(T, count) of an array, None if it was not logged or lacks an axis."""
        own = self.series.get(kind, {})
        if not own:
            return None
        if any(axis not in own for axis in range(count)):
            self.said.append(f"'{next(iter(own.values())).name}' has no other axes, and is not used as {kind}")
            return None
        return np.column_stack([own[axis].values for axis in range(count)])

    def turn(self, order: str | None) -> None:
        """Find the attitude of the root from the quaternion, or roll, pitch and yaw, of the base or of the IMU."""
        Rotation = optional_package("scipy.spatial.transform").Rotation
        for whose in ("base", "imu"):
            own = self.vector(f"{whose} attitude", 4)
            if own is not None and not np.ptp(own, axis=0).any():  # as from an IMU without attitude
                self.said.append(f"the {whose} attitude never changes, and is left out")
            elif own is not None:
                own = self._ordered(own, whose, order)
                length = np.linalg.norm(own, axis=1, keepdims=True)
                if np.abs(length - 1.0).max() > 0.1:
                    raise FootfallError(
                        f"{self.source}: '{self.series[f'{whose} attitude'][0].name}' ... is a quaternion of length "
                        f"{float(length[np.abs(length - 1.0).argmax(), 0]):.3g} and not 1"
                    )
                self.attitude = own / length
                return
            angles = self.vector(f"{whose} euler", 3)
            if angles is not None:
                degrees = np.abs(angles[:, :2]).max() > np.pi + BEYOND
                if degrees:
                    self.said.append("roll, pitch and yaw are in degrees: they are beyond half a turn in radians")
                self.attitude = Rotation.from_euler("xyz", angles, degrees=bool(degrees)).as_quat(scalar_first=True)
                return

    def _ordered(self, own: np.ndarray, whose: str, order: str | None) -> np.ndarray:
        """Quaternions as w, x, y, z; their order in arrays is found from the gyroscope, or from the robot's home
        pose.
        """
        channels = self.series[f"{whose} attitude"]
        if channels[0].name.lower().rstrip("]").endswith("w") or order == "wxyz":
            return own
        turned, other = {0: channels[3], 1: channels[0], 2: channels[1], 3: channels[2]}, own[:, [3, 0, 1, 2]]
        if order is not None:
            self.series[f"{whose} attitude"] = turned
            return other
        gyro, both = self.vector("gyro", 3), {"wxyz": own, "xyzw": other}
        home, why = self.robot.home[3:7], "so the robot begins nearer to how it stands"
        fits = {name: abs(float(one[0] @ home)) for name, one in both.items()}
        if gyro is not None:
            along = {name: _along(rates_of(one, self.time), gyro)[1] for name, one in both.items()}
            if max(along.values()) > CORRELATED and abs(along["wxyz"] - along["xyzw"]) > 0.2:
                fits, why = along, "its rate goes with the gyroscope"
        chosen = max(fits, key=lambda name: fits[name])
        self.said.append(f"quaternions are {', '.join(chosen)}: {why}; quaternion= says otherwise")
        self.series[f"{whose} attitude"] = turned if chosen == "xyzw" else channels
        return both[chosen]

    def imu(self) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray]:
        """Gyroscope and accelerometer in the frame of the root, and their place there, m."""
        turn, place, mount = imu_mount(self.robot)
        gyro, accel = self.vector("gyro", 3), self.vector("accel", 3)
        if mount and (gyro is not None or accel is not None):
            self.said.append(mount)
        if accel is not None:
            size = float(np.median(np.linalg.norm(accel, axis=1)))
            mean = float(np.linalg.norm(accel.mean(axis=0)))  # for a hopping robot, whose median is in flight
            near = (f for s in (size, mean) for f in (1.0, GRAVITY, 1e-3) if abs(s * f / GRAVITY - 1.0) < NEAR_FACTOR)
            factor = next(near, None)
            if factor is None:
                warn(f"{self.source}: its accelerometer reads {size:.3g} in the median, neither 9.81 m/s2 nor 1 g")
            elif factor != 1.0:
                self.said.append(
                    f"the accelerometer is in {'g' if factor > 1.0 else 'mm/s2'}: its median is {size:.4g}"
                )
            accel = self._scaled("accel", accel, factor or 1.0) @ turn.T
            own = home_up(self.robot)[None] if self.attitude is None else up_of(self.attitude)
            up = float(_unit(np.mean(accel, axis=0)) @ _unit(np.mean(own, axis=0)))
            if up < -0.7:
                why = "as the robot stands" if self.attitude is None else "by the attitude"
                self.said.append(f"the accelerometer reads gravity, and not the force against it: reversed, {why}")
                accel = self._scaled("accel", accel, -1.0)
            elif up < 0.7 and self.attitude is not None:
                warn(
                    f"{self.source}: accelerometer and attitude disagree about which way is up by "
                    f"{np.degrees(np.arccos(up)):.0f} deg: is the IMU mounted turned, or the quaternion in another "
                    "order?"
                )
        if gyro is not None:
            gyro = self._spin(gyro) @ turn.T
        return gyro, accel, place

    def _spin(self, gyro: np.ndarray) -> np.ndarray:
        """A gyroscope in rad/s, less its bias at rest."""
        fast = float(np.quantile(np.abs(gyro), 0.999))
        if self.attitude is not None and len(self.attitude) > 8:
            factor, correlation = _along(rates_of(self.attitude, self.time), gyro)
            if abs(correlation) > CORRELATED:
                unit = _unit_factor(abs(factor))
                if unit != 1.0 or factor < 0.0:
                    self.said.append(f"the gyroscope reads {factor:.3g} times the rate of the attitude: corrected")
                gyro = self._scaled("gyro", gyro, float(np.sign(factor)) / unit)
        elif fast > 2000.0 * DEGREES:
            self.said.append("the gyroscope is in deg/s: in rad/s it would be faster than 2000 deg/s")
            gyro = self._scaled("gyro", gyro, DEGREES)
        return gyro

    def log(self) -> Log:
        """The finished log."""
        robot, model = self.robot, self.robot.model
        T = len(self.time)
        gyro, accel, place = self.imu()
        qpos, qvel, logged = np.tile(robot.home, (T, 1)), np.zeros((T, model.nv)), np.zeros(model.nv, dtype=bool)
        torque = np.full((T, model.nv), np.nan)
        for joint, one in self.series.get("position", {}).items():
            dof = int(model.jnt_dofadr[joint])
            qpos[:, model.jnt_qposadr[joint]], logged[dof] = one.values, True
            own = self.series.get("velocity", {}).get(joint)
            qvel[:, dof] = rate_of(one.values, self.time) if own is None else own.values
        for joint, one in self.series.get("torque", {}).items():
            torque[:, model.jnt_dofadr[joint]] = one.values
        still = [
            name
            for j, name in enumerate(robot.joint_names)
            if not logged[model.jnt_dofadr[j]] and model.jnt_type[j] != FREE
        ]
        free = ~logged & np.array([model.jnt_type[j] != FREE for j in model.dof_jntid])
        position = self.vector("base position", 3)
        if model.njnt and model.jnt_type[0] == FREE and self.attitude is not None:
            qpos[:, 3:7] = self.attitude
        if model.njnt and model.jnt_type[0] == FREE and position is not None:
            qpos[:, :3] = position
        if free.any() and model.neq:
            open_by = close_loops(robot, qpos, free)
            self.said.append(
                f"loops and ties are closed by the joints {shortened(still)}; they stay open by "
                f"{1e3 * float(np.median(open_by)):.2g} mm or mrad in the median, {1e3 * open_by.max():.2g} at most"
            )
            step, moved = float(self.time[1] - self.time[0]), np.zeros((T, model.nv))
            for k in range(1, T):
                mujoco.mj_differentiatePos(model, moved[k], step, qpos[k - 1], qpos[k])
            qvel[:, free] = 0.5 * (moved + np.vstack([moved[1:], moved[-1:]]))[:, free]
            loose = undetermined(robot, qpos[-1], free)
            names = [robot.joint_names[j] for j in scalar_joints(robot) if loose[model.jnt_dofadr[j]]]
            if names:
                warn(
                    f"{self.source}: neither the log nor the loops tell where {shortened(names)} are: the robot's pose "
                    "is wrong by as much as they give way, and so is the velocity of its base"
                )
            # A spring turns the little by which loops close badly into torques as large as the weight.
            logged |= free & ~loose & (model.jnt_stiffness[model.dof_jntid] == 0.0)
        elif still:
            self.said.append(f"not logged, and kept as at home: {shortened(still)}")
        if model.njnt and model.jnt_type[0] == FREE:
            if position is None:
                set_on_ground(robot, qpos)
            else:
                qvel[:, :3] = rate_of(qpos[:, :3], self.time)
                if self.series.get("base velocity"):
                    self.said.append(
                        "base velocities are not used, in whatever frame they are: the rate of its place is"
                    )
            if gyro is not None:
                qvel[:, 3:6] = gyro
            elif self.attitude is not None:
                qvel[:, 3:6] = rates_of(self.attitude, self.time)
        kind, control = self._commands()
        found = Log(
            robot, self.time - self.time[0], qpos, qvel, logged, torque, control, kind, gyro, accel, place, position,
            self.attitude, self._feet(), self._matches(), tuple(self.found.unused), tuple(self.said), self.source,
        )  # fmt: skip
        return self._with_torques(found)

    def _with_signs(self, log: Log) -> Log:
        """The log with joints reversed that the model turns the other way, as far as their limits and torques tell."""
        own = self.series.get("position", {})
        able = [j for j in self.series.get("torque", {}) if j in own and self._within(j, -own[j].values) > 0.95]
        while (found := reversed_joint(log, able)) is not None:
            joint, log = found
            able.remove(joint)
            self._reverse(joint, "turns the other way, by inverse dynamics: reversed")
            column = next((i for i, j in enumerate(driven_joints(self.robot)) if j == joint), None)
            if log.control is not None and column is not None:
                sign = np.where(np.arange(log.control.shape[1]) == column, -1.0, 1.0)
                log = replace(log, control=log.control * sign)
            log = replace(log, matches=self._matches(), said=tuple(self.said))
        return log

    def _reverse(self, joint: int, why: str) -> None:
        self.said.append(f"'{self.robot.joint_names[joint]}' {why}")
        for one in self.of_joint(joint):
            one.scale(-1.0)

    def _with_torques(self, log: Log) -> Log:
        """The log with torques in sign and time as its motion needs; a factor that it implies is noted."""
        log = self._with_signs(log)
        signs, torques = torque_signs(log), self.series.get("torque", {})
        reversed_ = [j for j in torques if signs[self.robot.model.jnt_dofadr[j]] < 0.0]
        for joint in reversed_:
            torques[joint].scale(-1.0)
        if reversed_:
            which = shortened([self.robot.joint_names[j] for j in reversed_])
            log = self._corrected(log, f"torques of {which} have the other sign, by inverse dynamics: reversed")
        factor, delay, _ = torques_compared(log)
        unit = next((one for one in SMALLER if abs(factor / one - 1.0) < NEAR_FACTOR), 1.0)
        if unit != 1.0:
            for one in torques.values():
                one.scale(1.0 / unit)
            said = f"torques are {factor:.3g} times what the motion needs: taken to be in {SMALLER[unit]}"
            log, factor = self._corrected(log, said), factor / unit
        if abs(np.log(factor)) > NEAR_FACTOR:
            warn(
                f"{self.source}: torques are {factor:.3g} times what the motion needs: are they in N m, at the joints "
                f"(gears, torque_constants=), and are the masses of {self.robot.name} right?"
            )
        if not delay:
            return log
        for one in torques.values():
            self._advance(one, delay)
        way = "later" if delay > 0.0 else "earlier"
        said = f"torques come {1e3 * abs(delay):.3g} ms {way} than what they do, by inverse dynamics: shifted"
        return self._corrected(log, said)

    def _corrected(self, log: Log, said: str) -> Log:
        """The log with torques as they are now, and what was done to them."""
        torque = log.torque.copy()
        for joint, one in self.series["torque"].items():
            torque[:, self.robot.model.jnt_dofadr[joint]] = one.values
        self.said.append(said)
        return replace(log, torque=torque, matches=self._matches(), said=tuple(self.said))

    def _commands(self) -> tuple[str, np.ndarray | None]:
        """The commands of the actuators, of the kind with the most channels."""
        order = driven_joints(self.robot)
        kinds = ("command position", "command torque", "command velocity", "control")
        most = max(kinds, key=lambda kind: len(self.series.get(kind, {})))
        own = self.series.get(most, {})
        if not own:
            return "", None
        lacking = [self.robot.joint_names[j] for j in order if j not in own]
        if lacking:
            self.said.append(f"no {most} of {', '.join(lacking[:6])}")
        gap = np.full(len(self.time), np.nan)
        return most.removeprefix("command "), np.column_stack([own[j].values if j in own else gap for j in order])

    def _feet(self) -> np.ndarray | None:
        own = self.series.get("foot force", {})
        if not own:
            return None
        found = np.full((len(self.time), len(self.robot.feet), 3), np.nan)
        for (foot, axis), one in own.items():
            found[:, foot, axis] = one.values
        total = float(np.median(np.nansum(found[:, :, 2], axis=1)))
        if total < 0.0:
            self.said.append("foot sensors read the force of the foot on the ground: reversed")
        if self.robot.weight and not 1.0 / 3.0 < abs(total) / self.robot.weight < 3.0:
            self.said.append(
                f"foot sensors read {abs(total):.3g} in the median of their sum, and {self.robot.name} weighs "
                f"{self.robot.weight:.3g} N: they are no forces in N, and are not used"
            )
            return None
        return found if total >= 0.0 else -found

    def _matches(self) -> tuple[Match, ...]:
        found = []
        for kind, places in self.series.items():
            for place, one in places.items():
                if kind in JOINT_KINDS:
                    what = f"{self.robot.joint_names[int(place)]} {kind}"
                elif kind == "foot force":
                    foot, axis = place
                    what = f"{self.robot.feet[foot].name} force {'xyz'[axis]}"
                else:
                    what = f"{kind} {'wxyz'[place] if kind.endswith('attitude') else 'xyz'[place]}"
                found.append(Match(what, one.name, one.factor, one.delay))
        return tuple(found)


#: Quantities of joints, as they are and as they were commanded.
JOINT_KINDS = (*QUANTITIES, *(f"command {one}" for one in QUANTITIES), "control")
#: Those of them that an encoder reads.
POSITIONS = ("position", "command position")


def compared(first: np.ndarray, second: np.ndarray, rate: float) -> Compared:
    """Factor and delay (s) of the second signal (T,) relative to the first, and their correlation."""
    signal = optional_package("scipy.signal")
    a, b = first - first.mean(), second - second.mean()
    if not (a.any() and b.any()):
        return Compared(1.0, 0.0, 0.0)
    most = max(1, min(len(a) // 4, round(LONGEST_DELAY * rate)))
    middle = a[most:-most]  # of constant length at all shifts
    squares = np.concatenate([[0.0], np.cumsum(b * b)])
    size = np.sqrt((middle @ middle) * np.maximum(squares[middle.size :] - squares[: -middle.size], 1e-300))
    product = signal.correlate(b, middle, mode="valid")
    alike = product / np.maximum(size, 1e-300)
    best = int(np.argmax(np.abs(alike)))
    factor = float(product[best] / max(float(middle @ middle), 1e-300))
    return Compared(factor, float((peak(np.abs(alike)) - most) / rate), float(alike[best]))


def _along(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The factor between two vectors (T, 3) over time, and their correlation."""
    size, both = float((first**2).sum()), float((first * second).sum())
    return both / max(size, 1e-300), both / max(float(np.sqrt(size * (second**2).sum())), 1e-300)


def _unit_factor(factor: float) -> float:
    """Degrees in a radian, radians in a degree, or one, if a factor is near it; else one."""
    return next((unit for unit in (1.0, 1.0 / DEGREES, DEGREES) if abs(factor / unit - 1.0) < NEAR_FACTOR), 1.0)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-300)


def imu_mount(robot: Robot) -> tuple[np.ndarray, np.ndarray, str]:
    """(3, 3) axes and (3,) m place of the model's IMU in the frame of the root, and a sentence on it."""
    model = robot.model
    kinds = (int(mujoco.mjtSensor.mjSENS_ACCELEROMETER), int(mujoco.mjtSensor.mjSENS_GYRO))
    root = int(model.jnt_bodyid[0]) if model.njnt else 0
    for s in range(model.nsensor):
        site = int(model.sensor_objid[s])
        if model.sensor_type[s] in kinds and int(model.body_weldid[model.site_bodyid[site]]) == int(
            model.body_weldid[root]
        ):
            said = f"the IMU is at site '{model.site(site).name}' of the model"
            return matrix_of(model.site_quat[site]), model.site_pos[site].copy(), said
    return np.eye(3), np.zeros(3), "the IMU is taken to be in the frame of the root: the model has no sensor for it"


def set_on_ground(robot: Robot, qpos: np.ndarray) -> None:
    """Move a free base (T, nq) up or down until the lowest point touches z = 0, in place."""
    data = mujoco.MjData(robot.model)
    for k in range(len(qpos)):
        data.qpos[:] = qpos[k]
        mujoco.mj_kinematics(robot.model, data)
        qpos[k, 2] -= float(lowest_places(robot, data)[:, 2].min())
