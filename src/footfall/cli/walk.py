"""`footfall walk`, `follow` and `demo`: let a robot walk, or follow a motion from a file, and report what it did."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footfall.cli.shared.output import say, show_audit
from footfall.cli.shared.result import UnderControl, conclude, free_folder, simulate
from footfall.cli.shared.task import OutOptions, RobotOptions
from footfall.cli.shared.usage import argument, option

if TYPE_CHECKING:
    from footfall.robot import Robot

#: s that a robot stands which cannot walk.
STANDING = 2.0


class Walk(UnderControl):
    """Let a robot walk on two legs or on four, and report speed, distance, cost of transport and audit.

    footfall walk spatial-biped --speed 0.3 --ground slope --ground.angle 5deg

    footfall walk quadruped --speed 0.6 --gait trot --law mujoco

    Options that are left out are derived from the length of the legs. Exits with 1 if the robot falls.
    """

    speed: float | None = option(None, "left out, by Froude's number", unit="m/s")
    steps: int = option(10, "how many")
    turn: float = option(0.0, "to the left", unit="rad/s")
    gait: Literal["trot", "crawl"] | None = option(None, "of four legs, trot if left out")

    def run(self) -> int:
        from footfall.control import walker
        from footfall.study.outcomes import walk_outcome

        robot = self.chosen_robot()
        controller = walker(robot, speed=self.speed, turn=self.turn, steps=self.steps, gait=self.gait)
        rec = self.simulated(robot, controller)
        found = walk_outcome(rec)
        facts = {
            "speed": f"{found.speed:.3g} m/s",
            "way": f"{found.way:.3g} m forward, {found.drift:+.3g} m to the left",
            "cost of transport": f"{found.cost_of_transport:.3g}",
            "audit": found.audit_summary,
        }
        return conclude(rec, self.out, json=self.json, facts=facts, **asdict(found))


class Follow(UnderControl):
    """Let a robot follow a motion of root and joints by whole-body control, and report the errors and the help.

    footfall follow spatial-biped squat.csv --law hunt-crossley

    footfall follow spatial-biped squat.npz --speed 0.5 --assist

    Files: .csv (LAFAN1, or named columns root_x ... root_qw and joints), .npz (fps, root_pos, root_rot, dof_pos; Isaac
    Lab; qpos). Exits with 1 where the robot falls.
    """

    motion: Path = argument("MOTION", "the file with the motion")
    speed: float = option(1.0, "of the motion: 0.5 takes twice as long")
    fps: float | None = option(None, "samples per second, where the file does not have them (left out: 30)")
    quaternion: Literal["xyzw", "wxyz"] | None = option(
        None, "order of the root's quaternion, where it is not that of the format"
    )
    assist: bool = option(
        False, "virtual motors between world and root help where the ground cannot; how much they help is reported"
    )

    def run(self) -> int:
        from footfall.control import Follow
        from footfall.files.joint_motion import load_joint_motion
        from footfall.robot.motors import assisted
        from footfall.study.outcomes import follow_outcome

        robot = self.chosen_robot()
        if self.assist:
            robot = assisted(robot)
        motion = load_joint_motion(self.motion, fps=self.fps, quaternion=self.quaternion)
        controller = Follow(motion, speed=self.speed)
        rec = self.simulated(robot, controller)
        found = follow_outcome(rec)
        root = f"{1e3 * found.root_rms:.3g} mm off (rms), at most {1e3 * found.root_worst:.3g} mm"
        joints = f"{found.joint_rms:.3g} rad off (rms), at most {found.joint_worst:.3g} rad at {found.worst_joint}"
        facts = {
            "motion": f"{motion.source}, {len(motion)} samples in {motion.duration:.4g} s",
            "joints": joints,
            "root": f"{root} and {found.tilt_worst:.3g} rad",
            "help from outside": str(found.help) if self.assist else "none",
            "audit": found.audit_summary,
        }
        told = asdict(found) | {"help": found.help._asdict()}
        return conclude(rec, self.out, json=self.json, facts=facts, **told)


class Demo(RobotOptions, OutOptions):
    """Let a robot walk five steps under the default contact law, and report what happened.

    footfall demo

    footfall demo robot.urdf

    A robot that cannot walk stands for two seconds. The recording and the report go to runs/demo, or to runs/demo-2 and
    so on where recordings are there already. Exits with 1 if the robot falls.
    """

    robot: str = argument(
        "ROBOT", "a built-in name (see footfall robots), or a file: .xml (MJCF) or .urdf", "spatial-biped"
    )

    def run(self) -> int:
        from footfall.measure.audit import audit
        from footfall.simulation import Simulation

        self.check_place(self.out)
        usual = Path("runs/demo")
        folder = self.out or (usual if self.overwrite else free_folder(usual))
        robot = self.loaded(self.robot)
        controller, duration = _walk(robot)
        rec = simulate(Simulation(robot), duration, folder=folder, controller=controller)
        code = conclude(rec, folder, json=self.json)
        examined = audit(rec)
        if not self.json:
            show_audit(examined)
        try:
            from footfall.show.report import write_report
        except ImportError as missing:  # an extra that is not installed
            say(f"no report was written: {missing}")
            return code
        say(f"the report is {write_report(rec, folder / 'report.html', audit=[examined])}: open it in a browser")
        return code


def _walk(robot: Robot) -> tuple[Any, float]:
    """A walk of five steps and its duration (s), or the robot's default controller where it cannot walk."""
    from footfall.control import walker
    from footfall.errors import FootfallError

    try:
        walk = walker(robot, steps=5)
    except FootfallError as error:
        say(f"{robot.name} stands, as it cannot walk: {error}")
        return "default", STANDING
    return walk, walk.duration
