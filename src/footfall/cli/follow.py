"""`footfall follow`: let a robot follow a motion from a file, and report the errors and the help it needed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from footfall.cli.shared.under_control import Told, UnderControl


@dataclass(frozen=True, kw_only=True)
class Command(UnderControl):
    """Let a robot follow a motion of root and joints by whole-body control, and report the errors and the help.

    footfall follow spatial-biped squat.csv --law hunt-crossley

    footfall follow spatial-biped squat.npz --speed 0.5 --assist

    Files: .csv (LAFAN1, BONES-SEED, or named columns root_x ... root_qw and joints), .npz (fps, root_pos, root_rot,
    dof_pos; Isaac Lab; PyRoki; qpos), .mot and .sto of OpenSim. Exits with 1 where the robot falls.
    """

    motion: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MOTION")]
    """the file with the motion"""
    speed: float = 1.0
    """of the motion: 0.5 takes twice as long"""
    fps: Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint="")] = None
    """samples per second, where the file does not have them (left out: 30)"""
    quaternion: Literal["xyzw", "wxyz"] | None = None
    """order of the root's quaternion, where it is not that of the format"""
    assist: bool = False
    """virtual motors between world and root help where the ground cannot; how much they help is reported"""

    def run(self) -> int:
        from footfall.control import Follow
        from footfall.files.joint_motion import load_joint_motion
        from footfall.robot.assist import assisted
        from footfall.study.follow_outcome import follow_outcome

        robot = self.chosen_robot()
        if self.assist:
            robot = assisted(robot)
        motion = load_joint_motion(self.motion, fps=self.fps, quaternion=self.quaternion)
        controller = Follow(motion, speed=self.speed)
        rec, saved = self.simulated(robot, controller)
        found = follow_outcome(rec)
        told = Told(
            title=f"{robot.name} follows {motion.source} under {rec.law.name}",
            fall=found.fall,
            asked={"motion": f"{motion.source}, {len(motion)} samples in {motion.duration:.4g} s"},
            facts={
                "joints": f"{found.joint_rms:.3g} rad off (rms), at most {found.joint_worst:.3g} rad "
                f"at {found.worst_joint}",
                "root": f"{1e3 * found.root_rms:.3g} mm off (rms), at most {1e3 * found.root_worst:.3g} mm and "
                f"{found.tilt_worst:.3g} rad",
                "help from outside": str(found.help) if self.assist else "none",
                "audit": found.audit_summary,
            },
            outcome=asdict(found) | {"help": found.help._asdict()},
        )
        return self.tell(rec, saved, told)
