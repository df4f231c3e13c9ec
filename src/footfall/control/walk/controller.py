"""A walk under way: from the state to torques, step after step, in compiled code."""

from __future__ import annotations

import numpy as np

from footfall.compiled import inlined
from footfall.control.body.biped import Biped
from footfall.control.body.linkage import damp_springs
from footfall.control.episode_log import KIND, MORE, START, WORST, LoggedWarnings, see_episode
from footfall.control.inside import Inside, signals_in
from footfall.control.walk.goals import lead_com, lead_posture, lead_standing_feet, lead_swinging_foot
from footfall.control.walk.grip import feel_grip
from footfall.control.walk.ground import feel_contacts, feel_obstacle, feel_slope, look_for_fall
from footfall.control.walk.heel_off import lead_edges, see_lying, take_edges
from footfall.control.walk.phases import adapt_timing, all_taken, begin_walk, change_phase, moving_foot, step_of
from footfall.control.walk.state import FALLEN, LATE, OUT_OF_REACH, STUMBLED, UNSOLVED, make_walker
from footfall.control.walk.stature import Stature
from footfall.control.whole_body.on_soles import see_body, solve_body
from footfall.gait.footsteps import FootstepPlan
from footfall.gait.swing import POSITION
from footfall.robot.motors import write_controls

#: N m s/rad per N of weight, by which the motors of a robot that fell brake.
BRAKE = 0.01

KIND_NAMES = {LATE: "late", OUT_OF_REACH: "out of reach", STUMBLED: "stumbled", UNSOLVED: "unsolved", FALLEN: "fallen"}


class Walking(Inside):
    """A walk under way: ``plan`` after some time on both feet; see :func:`walk_state.make_walker` for ``sizes``."""

    def __init__(
        self, plan: FootstepPlan, biped: Biped, held: Stature, sizes: tuple[float, float, float, float]
    ) -> None:
        walker = make_walker(plan, biped, held, sizes)
        super().__init__(walk_tick, walker)
        self._steps = len(plan.steps)
        self.warnings = LoggedWarnings(walker.log, self._describe)
        self.signals = signals_in(
            walker.signals,
            {
                "com": ((3,), "m"),
                "dcm": ((2,), "m"),
                "dcm_reference": ((2,), "m"),
                "cop_reference": ((2,), "m"),
                "swing_reference": ((3,), "m"),
                "phase": ((1,), ""),
                "grip": ((2,), ""),
                "on_edge": ((2,), ""),
            },
        )

    def _describe(self, row: np.ndarray, before: np.ndarray) -> tuple[str, str]:
        """Kind and sentence of an episode, with those ``before`` it as causes of a fall."""
        kind, worst = int(row[KIND]), float(row[WORST])
        name = KIND_NAMES[kind]
        if kind != FALLEN:
            return name, {
                LATE: f"a foot came down {worst:.2f} s late",
                OUT_OF_REACH: f"a foothold was needed {worst:.2f} m out of reach",
                STUMBLED: "a swinging foot met something and was lifted over it",
                UNSOLVED: "no torques solve the whole-body problem, those before are kept",
            }[kind]
        step, tilt, height, lasts = row[MORE : MORE + 4].tolist()
        recent = [one for one in before if row[START] - one[START] < 3.0 * lasts + 1.0]
        causes = [f"{KIND_NAMES[int(one[KIND])]} from {one[START]:.4g} s" for one in recent]
        why = f"; before: {', '.join(causes)}" if causes else ""
        phase = f"step {int(step) + 1}" if step < self._steps else "what follows the last step"
        return name, f"fell in {phase}, trunk tilted {tilt:.2f} rad, mass {height:.2f} m high{why}"


@inlined
def walk_tick(walk, time, ctrl):
    """Write the controls for this instant; 0."""
    senses, body, gait, now = walk.senses, walk.body, walk.gait, walk.now
    see_body(senses, body)
    if not now.begun[0]:
        begin_walk(walk, time)
    feel_contacts(walk)
    feel_grip(walk)
    for k in range(2):
        see_lying(walk, k)
    change_phase(walk, time)
    foot = moving_foot(walk)
    standing = 1 - foot if now.swinging[0] else -1
    behind = foot if not now.swinging[0] else standing
    waits = now.step[0] == 0 if not now.swinging[0] else now.step[0] + 1 >= gait.steps.shape[0]
    step = step_of(gait, now.step[0] + 1 if now.swinging[0] else now.step[0])
    lead_edges(walk, time - now.since[0], -1 if waits or all_taken(walk) else behind, step)
    feel_slope(walk, standing)
    for c in range(2):
        now.dcm[c] = body.com[c] + body.com_velocity[c] / now.dcm_plan.omega
    lead_com(walk, time, standing)
    feet = lead_standing_feet(walk, time)
    if now.swinging[0]:
        adapt_timing(walk, time)
        feel_obstacle(walk, time, foot)
        lead_swinging_foot(walk, time, foot)
    lead_posture(walk)
    take_edges(walk)
    if not solve_body(body, feet):
        see_episode(walk.log, time, UNSOLVED, 1.0)
    elif body.linkage.loops:
        damp_springs(body, senses.qvel, gait.dt)
    if not now.fallen[0]:
        look_for_fall(walk, time, standing)
    if now.fallen[0]:
        for i in range(ctrl.size):
            body.torque[i] = -BRAKE * gait.weight * senses.qvel[body.motors[i]]
    write_controls(gait.drives, body.torque, senses.qpos, senses.qvel, ctrl)
    write_signals(walk)
    return 0


@inlined
def write_signals(walk):
    """Write what is recorded of a walk."""
    now, signals = walk.now, walk.signals
    for c in range(3):
        signals[c] = walk.body.com[c]
    for c in range(2):
        signals[13 + c], signals[15 + c] = now.grip[c], now.on_edge[c]
        signals[3 + c], signals[5 + c] = now.dcm[c], now.dcm_reference[c]
        signals[7 + c] = now.wanted_pressure[c]
    if now.swinging[0]:
        for c in range(3):
            signals[9 + c] = now.swing.motion[c, POSITION]
    signals[12] = min(now.step[0] + (0.5 if now.swinging[0] else 0.0), walk.gait.steps.shape[0])
