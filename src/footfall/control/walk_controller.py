"""A walk under way: from the state to torques, step after step."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from footfall.control.base import State
from footfall.control.biped import Biped
from footfall.control.episodes import Watch
from footfall.control.foothold import find_foothold
from footfall.control.rotations import about_z, flat_on, rotation, rotation_vector
from footfall.control.step_timing import SwingClock, clock_rate
from footfall.control.walk_stature import Stature
from footfall.control.whole_body import Desired, Weights, WholeBody
from footfall.gait.dcm import DcmPlan, Point, Segment
from footfall.gait.footsteps import LEFT, FootstepPlan, Pose
from footfall.gait.swing import SwingFoot
from footfall.record import Signal

#: Steps that the divergent component is planned ahead: beyond, exp(-w T) leaves nothing.
HORIZON = 4
#: Share of the ground's friction that is used.
FRICTION_USED = 0.8
#: Part of half the sole's width that the pressure centre keeps from its edge.
EDGE = 0.2
#: 1/s, how fast an error of the divergent component decays.
DCM_DECAY = 4.0
#: m/s at which a foot comes down, and looks for ground that is not where it was expected.
DESCENT = 0.1
#: Part of the swing after which the ground may be met.
SOONEST = 0.6
#: Part of the step's height over which what a swinging foot meets is an obstacle, and by how much more it is lifted.
OBSTACLE, HIGHER = 0.3, 1.2
#: rad per m of step that the toe hangs down in the swing, and at most: an ankle cannot hold the foot flat there.
TOE_DOWN, MOST_TOE_DOWN = 1.0, 0.4
#: s, of the estimates of slope, of the height of the centre of mass and of the heading.
SLOW = 0.2
#: The steepest slope that is believed.
STEEPEST = 0.3
#: Weight of a joint that its leg can do without: it stays as it is at home.
HELD = 10.0
#: rad before its limit from which a joint is led back, and the weight of that at the limit.
LIMIT_ZONE, LIMIT_WEIGHT = 0.05, 3.0
#: rad of the trunk, and part of the height of the centre of mass, at which the robot has fallen.
FALLEN_TILT, FALLEN_HEIGHT = 1.0, 0.6
#: s after its time from which a landing is late.
LATE = 0.1

# Stiffness (1/s2) and damping (1/s) of what follows a reference. These, and all above in s, m/s and m, are for legs of
# ``walk_stature.LEG``: lengths grow with the legs, times with their root.
HEIGHT_GAINS = 100.0, 20.0
TRUNK_GAINS = 200.0, 28.0
FOOT_GAINS = 600.0, 49.0
JOINT_GAINS = 50.0, 14.0
STANCE_DAMPING = 20.0


class Walking:
    """A walk under way: ``plan`` after ``start_time`` (s) on both feet, lifting them by ``step_height`` (m), called
    every ``dt`` (s). Feet are counted 0 left, 1 right.
    """

    def __init__(
        self,
        plan: FootstepPlan,
        biped: Biped,
        held: Stature,
        start_time: float,
        step_height: float,
        friction: float,
        dt: float,
    ) -> None:
        self.biped, self.step_height, self.dt = biped, step_height, dt
        robot = biped.robot
        model, self.weight = robot.model, robot.weight
        self.steps = plan.steps
        self.edge = EDGE * min(sole.half_width for sole in biped.soles)
        self.body = WholeBody(
            biped, FRICTION_USED * friction, Weights(size=held.size), margin=self.edge, least_load=0.002 * self.weight
        )
        self.size, self.pace = held.size, held.pace
        self.descent = DESCENT * self.pace
        self.slow, self.late = SLOW * self.pace, LATE * self.pace
        self.reach, self.height = held.reach, held.height
        self.omega = math.sqrt(self.weight / (robot.mass * self.height))
        joints = model.dof_jntid[biped.motors]
        self.joint_place = model.jnt_qposadr[joints]
        self.home_joints = held.qpos[self.joint_place]
        turned = np.zeros(9)
        mujoco.mju_quat2Mat(turned, robot.home[3:7])
        self.home_trunk = turned.reshape(3, 3)
        limited = model.jnt_limited[joints].astype(bool)
        self.joint_low = np.where(limited, model.jnt_range[joints, 0] + LIMIT_ZONE, -np.inf)
        self.joint_high = np.where(limited, model.jnt_range[joints, 1] - LIMIT_ZONE, np.inf)

        self.begun = False
        self.step = 0  # the one that is prepared or under way
        self.swing: SwingFoot | None = None
        self.since, self.lasts = 0.0, start_time  # s, the phase
        self.dcm_plan = DcmPlan(self.omega, (), ((0.0, 0.0),))
        self.pressure: Point = (0.0, 0.0)  # planned
        self.landing: Pose = (0.0, 0.0, 0.0)  # planned
        self.headings = [0.0, 0.0]  # rad, planned for the feet as they stand
        self.heading = 0.0  # rad, of the trunk
        self.slope = np.zeros(2)
        self.com_height = self.height
        self.fallen = False
        self.desired = Desired(
            com=np.zeros(3),
            trunk=np.zeros(3),
            feet=np.zeros((2, 6)),
            joints=np.zeros(model.nu),
            firmness=np.zeros(model.nu),
            standing=(0, 1),
            load=np.zeros(2),
        )
        self.watch = Watch()
        self.warnings = self.watch.warnings
        self.signals = {
            "com": Signal(np.zeros(3), "m"),
            "dcm": Signal(np.zeros(2), "m"),
            "dcm_reference": Signal(np.zeros(2), "m"),
            "cop_reference": Signal(np.zeros(2), "m"),
            "swing_reference": Signal(np.zeros(3), "m"),
            "phase": Signal(np.zeros(1), ""),
        }

    def __call__(self, t: float, state: State) -> np.ndarray:
        body = self.body
        body.see(state.data)
        if not self.begun:
            self._begin(t)
        meets, force = state.mode > 0, state.force
        carries = meets & (force[:, 2] >= np.hypot(force[:, 0], force[:, 1]))  # a wall is no ground to stand on
        meeting, touching = ([bool(one[sole.points].any()) for sole in self.biped.soles] for one in (meets, carries))
        self._change_phase(t, touching)
        self._feel_slope()
        dcm = body.com[:2] + body.com_velocity[:2] / self.omega
        self._lead_com(t, dcm)
        self._lead_standing_feet(t, touching)
        if self.swing is not None:
            self._adapt_timing(t, dcm, self.swing)
            self._feel_obstacle(t, meeting[self.moving], touching[self.moving], self.swing)
            self._lead_swinging_foot(t, dcm, self.swing)
        self._lead_posture(state)
        torque = body.solve(self.desired)
        if not body.solved:
            self.watch.see(t, "unsolved", 1.0, lambda: "no torques solve the whole-body problem, those before are kept")
        if not self.fallen:
            self._look_for_fall(t, state)
        if self.fallen:
            torque = -0.01 * self.weight * state.qvel[self.biped.motors]
        self._tell(dcm)
        return self.biped.drives.controls(torque, state.qpos, state.qvel)

    def _gains(self, gains: tuple[float, float]) -> tuple[float, float]:
        """Stiffness and damping for legs of this length."""
        return gains[0] / self.pace**2, gains[1] / self.pace

    # ---- phases ------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self.step >= len(self.steps)

    @property
    def moving(self) -> int:
        """The foot of the present step; of the last one when all are taken."""
        return 0 if self.steps[min(self.step, len(self.steps) - 1)].side == LEFT else 1

    def _begin(self, t: float) -> None:
        body = self.body
        self.begun, self.since = True, t
        self.pressure = float(body.com[0]), float(body.com[1])
        self.com_height = float(body.com[2] - body.place[:, 2].mean())
        self.slope[:] = self._slope_of((0, 1))
        left, right = (math.atan2(R[1, 0], R[0, 0]) for R in body.rotation)
        self.heading = left + 0.5 * math.remainder(right - left, 2.0 * math.pi)
        self.headings = [self.heading, self.heading]
        self._plan_dcm()

    def _change_phase(self, t: float, touching: list[bool]) -> None:
        spent = t - self.since
        if self.swing is not None:
            if touching[self.moving] and spent > SOONEST * self.lasts and self.swing.z.velocity < 0.0:
                self._land(t)
        elif not self.done and spent > self.lasts - 0.5 * self.dt:
            self._lift(t)

    def _land(self, t: float) -> None:
        self.headings[self.moving] = self.landing[2]
        self.swing = None
        self.step += 1
        self.since = t
        self.lasts = 2.0 * self.steps[-1].double_support if self.done else self.steps[self.step].double_support
        self._plan_dcm()

    def _lift(self, t: float) -> None:
        swing = self.steps[self.step].swing
        x, y, z = self.body.place[self.moving].tolist()
        self.swing = SwingFoot((x, y, z), swing, self.step_height, self.descent)
        self.stumbled, self.delayed = False, 0.0
        self.lifted = self.body.rotation[self.moving].copy()
        self.since, self.lasts = t, swing
        self._plan_dcm()

    def _pose(self, foot: int) -> Pose:
        """Where a foot stands, and where it should point: a foot that turned on the ground does not turn the walk."""
        x, y, _ = self.body.place[foot].tolist()
        return x, y, self.headings[foot]

    def _plan_dcm(self) -> None:
        """Plan the divergent component from now over the next steps, as if they were the last."""
        poses = [self._pose(0), self._pose(1)]
        segments: list[Segment] = []
        at = self.pressure
        width = math.dist(poses[0][:2], poses[1][:2]) if self.step == 0 else self.steps[0].width
        left = self.lasts if self.swing is None else 0.0
        for i, step in enumerate(self.steps[self.step : self.step + HORIZON]):
            foot = 0 if step.side == LEFT else 1
            stance = poses[1 - foot]
            poses[foot] = step.landing(stance, width if i == 0 else step.width)
            if i == 0:
                self.landing = poses[foot]
            if left > 0.0:
                segments.append(Segment(left, at, stance[:2]))
            at, left = stance[:2], step.double_support
            segments.append(Segment(step.swing, at, at))
        middle = 0.5 * (poses[0][0] + poses[1][0]), 0.5 * (poses[0][1] + poses[1][1])
        segments.append(Segment(2.0 * self.steps[-1].double_support, at, middle))
        self.dcm_plan = DcmPlan.ending_at(middle, segments, self.omega)

    # ---- what is wanted ----------------------------------------------------------------------------------------

    def _lead_com(self, t: float, dcm: np.ndarray) -> None:
        """The acceleration of the centre of mass that leads the divergent component to its reference."""
        body, w, goal = self.body, self.omega, self.desired.com
        spent = t - self.since
        if self.swing is not None:  # until the foot lands the other one carries
            spent = min(spent, self.lasts - 1e-9)
        self.pressure, self.dcm_reference = self.dcm_plan.at(spent)
        # With xi' = w (xi - p) an error decays as exp(-k t) for p = p_ref + (1 + k/w) (xi - xi_ref).
        self.wanted_pressure = self.pressure + (1.0 + DCM_DECAY / (self.pace * w)) * (dcm - self.dcm_reference)
        goal[:2] = w * w * (body.com[:2] - self.wanted_pressure)
        steep = math.hypot(*self.slope.tolist())
        wanted = self.height - self.reach * steep  # uphill, the leg behind must reach farther down
        self.com_height += self.dt / (self.slow + self.dt) * (wanted - self.com_height)
        stiff, damp = self._gains(HEIGHT_GAINS)
        rise = float(self.slope @ body.com_velocity[:2])
        height = self._ground_at(float(body.com[0]), float(body.com[1])) + self.com_height
        goal[2] = stiff * (height - body.com[2]) + damp * (rise - body.com_velocity[2])

    def _lead_standing_feet(self, t: float, touching: list[bool]) -> None:
        """Standing feet rest; load comes and goes slowly, so that feet are neither stamped nor torn off."""
        desired = self.desired
        spent = t - self.since
        desired.load[:] = 3.0 * self.weight
        desired.standing = (0, 1)
        if self.swing is not None:
            desired.standing = (1 - self.moving,)
        else:
            if self.step > 0:
                came = self.moving if self.done else 1 - self.moving
                desired.load[came] = self.weight * (0.1 + 3.0 * min(1.0, spent / self.lasts))
            if not self.done:
                left = (self.lasts - spent) / self.steps[self.step].double_support
                desired.load[self.moving] = self.weight * min(3.0, max(0.0, left))
        for foot in desired.standing:
            damping = STANCE_DAMPING / self.pace
            desired.feet[foot] = -damping * self.body.sole_velocity[foot]
            if not touching[foot]:
                desired.feet[foot, 2] -= damping * self.descent

    def _adapt_timing(self, t: float, dcm: np.ndarray, swing: SwingFoot) -> None:
        """Let the step go on faster or slower, as the divergent component wants it."""
        stance = 1 - self.moving
        c, s = math.cos(self.headings[stance]), math.sin(self.headings[stance])
        px, py = self.dcm_plan.segments[0].end
        begun, now = (-s * (float(x) - px) + c * (float(y) - py) for x, y in (self.dcm_plan.dcm[0], dcm))
        held = self.biped.soles[stance].half_width - self.edge
        rate = clock_rate(now, begun, SwingClock(t - self.since, self.lasts, self.delayed, self.omega, held, self.size))
        if rate:
            self.delayed -= rate * self.dt
            self.since -= rate * self.dt
            swing.duration = swing.time + max(self.lasts - (t - self.since), self.dt)

    def _lead_swinging_foot(self, t: float, dcm: np.ndarray, swing: SwingFoot) -> None:
        body, foot = self.body, self.moving
        spent = t - self.since
        left = self.lasts - spent
        if left < -self.late:
            self.watch.see(t, "late", -left, lambda: f"a foot came down {-left:.2f} s late")
        error = dcm - self.dcm_reference
        stance, sole = self._pose(1 - foot), self.biped.soles[1 - foot]
        found = find_foothold(
            self.landing,
            self.steps[self.step],
            stance,
            sole,
            (error[0], error[1]),
            self.omega,
            max(left, 0.02 * self.pace),
            self.edge,
        )
        if found.beyond > 0.02 * self.size:
            self.watch.see(
                t, "out of reach", found.beyond, lambda: f"a foothold was needed {found.beyond:.2f} m out of reach"
            )
        x, y = found.place
        swing.advance((x, y, self._ground_at(x, y)), self.dt)
        stiff, damp = self._gains(FOOT_GAINS)
        place, velocity, goal = body.place[foot], body.sole_velocity[foot], self.desired.feet[foot]
        for i, one in enumerate((swing.x, swing.y, swing.z)):
            goal[i] = one.acceleration + stiff * (one.position - place[i]) + damp * (one.velocity - velocity[i])
        # Toe down, and the middle higher for it.
        arm, (tilt, tilt_rate, tilt_push) = self.biped.soles[foot].half_length, self._toe_down(spent / self.lasts)
        goal[2] += arm * (tilt_push + stiff * tilt + damp * tilt_rate)
        # From how it lay to how it shall lie, before it lands.
        part = min(1.0, spent / (0.8 * self.lasts))
        part = part**3 * (10.0 - 15.0 * part + 6.0 * part * part)
        turn = rotation_vector(flat_on(self.slope, self.landing[2]) @ self.lifted.T)
        flat = rotation(part * turn) @ self.lifted
        across = flat[:, 1]
        off = rotation_vector(rotation(tilt * across) @ flat @ body.rotation[foot].T)
        goal[3:] = tilt_push * across + stiff * off + damp * (tilt_rate * across - velocity[3:])

    def _toe_down(self, part: float) -> tuple[float, float, float]:
        """The tilt of a foot that swings forward after a part s of its swing, as s^3 (1 - s)^5: rad, rad/s, rad/s2."""
        if not 0.0 < part < 1.0:
            return 0.0, 0.0, 0.0
        most = min(max(TOE_DOWN / self.size * self.steps[self.step].length, 0.0), MOST_TOE_DOWN) / (0.375**3 * 0.625**5)
        s, r = part, 1.0 - part
        rate = most * s * s * r**4 * (3.0 - 8.0 * s) / self.lasts
        return most * s**3 * r**5, rate, most * s * r**3 * (6.0 - 42.0 * s + 56.0 * s * s) / self.lasts**2

    def _lead_posture(self, state: State) -> None:
        """The trunk upright and along the feet; joints as at home as far as nothing else is asked of them."""
        desired, biped = self.desired, self.biped
        ahead = 0.5 * (self.headings[0] + self.headings[1])
        self.heading += self.dt / (self.slow + self.dt) * (ahead - self.heading)
        R = state.data.xmat[biped.trunk].reshape(3, 3)
        stiff, damp = self._gains(TRUNK_GAINS)
        wanted = about_z(self.heading) @ self.home_trunk
        desired.trunk[:] = stiff * (R.T @ rotation_vector(wanted @ R.T)) - damp * state.qvel[3:6]
        stiff, damp = self._gains(JOINT_GAINS)
        joints = state.qpos[self.joint_place]
        inside = np.minimum(np.maximum(joints, self.joint_low), self.joint_high)
        near = np.minimum(np.abs(joints - inside) / LIMIT_ZONE, 2.0)
        target = np.where(near > 0.0, inside, self.home_joints)
        desired.joints[:] = stiff * (target - joints) - damp * state.qvel[biped.motors]
        desired.firmness[:] = np.where(biped.spare, HELD, LIMIT_WEIGHT * near * near)

    # ---- what is felt ------------------------------------------------------------------------------------------

    def _slope_of(self, feet: tuple[int, ...]) -> np.ndarray:
        """(dz/dx, dz/dy) of the ground under feet that stand."""
        x, y, z = self.body.rotation[feet[0], :, 2].tolist()
        for foot in feet[1:]:
            also = self.body.rotation[foot, :, 2].tolist()
            x, y, z = x + also[0], y + also[1], z + also[2]
        z = max(z, 0.5)
        return np.array([min(max(-x / z, -STEEPEST), STEEPEST), min(max(-y / z, -STEEPEST), STEEPEST)])

    def _feel_slope(self) -> None:
        feet = (0, 1) if self.swing is None else (1 - self.moving,)
        self.slope += self.dt / (self.slow + self.dt) * (self._slope_of(feet) - self.slope)

    def _feel_obstacle(self, t: float, meeting: bool, carried: bool, swing: SwingFoot) -> None:
        """A foot that meets something on its way, or a wall at the end of it, is lifted over it."""
        in_the_way = meeting and not (carried and swing.time > SOONEST * swing.duration)
        if in_the_way and swing.lifted > OBSTACLE * self.step_height and not self.stumbled:
            self.stumbled = True
            swing.stumble(HIGHER * self.step_height)
            self.lasts = t - self.since + swing.duration - swing.time
            self.watch.note(t, "stumbled", "a swinging foot met something and was lifted over it")

    def _ground_at(self, x: float, y: float) -> float:
        """Height of the ground, m: the plane through what stands."""
        if self.swing is not None:
            bx, by, bz = self.body.place[1 - self.moving].tolist()
        else:
            bx, by, bz = (0.5 * (self.body.place[0] + self.body.place[1])).tolist()
        return float(bz + self.slope[0] * (x - bx) + self.slope[1] * (y - by))

    def _look_for_fall(self, t: float, state: State) -> None:
        com = self.body.com
        upright = self.home_trunk[2] @ state.data.xmat[self.biped.trunk].reshape(3, 3)[2]
        tilt = math.acos(min(1.0, max(-1.0, float(upright))))
        height = float(com[2]) - self._ground_at(float(com[0]), float(com[1]))
        if tilt < FALLEN_TILT and height > FALLEN_HEIGHT * self.height:
            return
        self.fallen = True
        causes = [f"{one.kind} from {one.time:.4g} s" for one in self.warnings if t - one.time < 3.0 * self.lasts + 1.0]
        why = f"; before: {', '.join(causes)}" if causes else ""
        phase = f"step {self.step + 1}" if not self.done else "standing after the last step"
        self.watch.note(t, "fallen", f"fell in {phase}, trunk tilted {tilt:.2f} rad, mass {height:.2f} m high{why}")

    def _tell(self, dcm: np.ndarray) -> None:
        signals = self.signals
        signals["com"].values[:] = self.body.com
        signals["dcm"].values[:] = dcm
        signals["dcm_reference"].values[:] = self.dcm_reference
        signals["cop_reference"].values[:] = self.wanted_pressure
        if self.swing is not None:
            signals["swing_reference"].values[:] = self.swing.x.position, self.swing.y.position, self.swing.z.position
        signals["phase"].values[0] = self.step + (0.5 if self.swing is not None else 0.0)
