"""`footfall estimate` and `footfall replay`: contacts from a robot's log, and the log again in a simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from footfall.cli.shared.output import given, print_facts, print_json, print_table, say
from footfall.cli.shared.result import save, simulate
from footfall.cli.shared.task import OutOptions, RobotOptions
from footfall.cli.shared.usage import argument, option
from footfall.given_numbers import NotNegative, Positive

if TYPE_CHECKING:
    from footfall.logs.log import Log
    from footfall.record import Record


class LogOptions(RobotOptions):
    """A robot and how its logs are read."""

    robot: str = option(..., "whose log: a name or a model file", "ROBOT")
    name: dict[str, str] | None = option(
        None,
        "which name in the log is which joint, where words do not tell",
        pair=("the joint of a name", "NAME=JOINT"),
    )
    sign: dict[str, float] | None = option(
        None, "of joints that the model turns the other way", pair=("a sign", "JOINT=-1")
    )
    offset: dict[str, float] | None = option(
        None, "what encoders read in the model's zero", pair=("an offset", "JOINT=RAD")
    )
    torque_constant: float | None = option(None, "N m/A at the joint, to make torques of currents")
    quaternion: Literal["wxyz", "xyzw"] | None = option(
        None, "order of quaternions in arrays, where gravity does not tell it"
    )
    rate: float | None = option(None, "samples per second, where the file has no times", "HZ")
    friction: NotNegative = option(0.7, "of the level ground")

    def load(self, path: Path) -> Log:
        """A log of the robot."""
        from footfall.logs.reading import load_log

        return load_log(
            path,
            self.loaded(self.robot),
            names=self.name,
            signs=self.sign,
            offsets=self.offset,
            torque_constants=self.torque_constant,
            **given(self, "quaternion", "rate"),
        )


class Estimate(LogOptions, OutOptions):
    """Find contact forces, modes, touch-downs, slides and the state of the base in a robot's log, with uncertainty.

    footfall estimate walk.mcap --robot robot.urdf --report walk.html

    Logs are MCAP files or ROS 2 bags (joint states, IMU, odometry), .csv, .parquet or .npz. Needed are joint
    positions and an IMU (or the pose of the base); velocities and torques make it better. No ROS is needed. --out saves
    a recording for plot, export, audit and view.
    """

    log: Path = argument("LOG", "the robot's log")
    cutoff: Positive = option(30.0, "Hz, of the low pass on joints, torques and IMU")
    causal: bool = option(False, "use nothing after a sample for it, as the robot itself could")
    report: Path | None = option(None, "write a page with plots, audit and a 3D replay", "FILE.html")

    def run(self) -> int:
        from footfall.ground import Ground
        from footfall.logs.estimate import estimate

        self.check_place(self.out)
        log = self.load(self.log)
        found = estimate(log, ground=Ground.plane(friction=self.friction), cutoff=self.cutoff, causal=self.causal)
        told = found.to_dict()
        written = keep(found.record(), self.out, self.report, f"{log.robot.name}, estimated from {log.source}")
        if self.json:
            print_json(told | {"matches": [one._asdict() for one in log.matches], "unused": log.unused} | written)
            return 0
        print(log)
        rows = [
            [
                name,
                f"{own['mean_vertical_force_N']:.1f} ± {own['mean_deviation_N']:.1f}",
                f"{own['largest_vertical_force_N']:.1f}",
                f"{100.0 * own['in_contact']:.0f}",
                str(len(own["touch_downs"])),
                str(len(own["slides"])),
            ]
            for name, own in told["feet"].items()
        ]
        columns = ("foot", "vertical force in contact, N>", "largest>", "in contact, %>", "touch-downs>", "slides>")
        title = f"contacts, ± one standard deviation; {log.robot.name} weighs {told['weight_N']:.1f} N"
        print_table(columns, rows, title=title)
        base = told["base_deviation"]
        print_facts(
            {
                "not explained": f"{100.0 * told['residual_weights']:.2g} % of the weight (rms)",
                "base known to": f"tilt {base['tilt_rad']:.2g} rad, velocity {base['velocity_m_s']:.2g} m/s, height "
                f"{base['height_m']:.2g} m",
                "speed": f"{told['times_real_time']:.2g} times real time on one core",
            }
        )
        for one in found.said:
            say(one)
        return 0


def keep(record: Record, out: Path | None, report: Path | None, title: str, *others: Record) -> dict[str, str | None]:
    """Save a record and write a page of it, beside others if there are any; where they are."""
    from footfall.recording import as_recording
    from footfall.show.report import write_report

    if out is not None:
        save(as_recording(record), out)
    if report is not None:
        shown = dict(zip(("simulated", "log"), (record, *others), strict=True)) if others else record
        write_report(shown, report, title=title)
        say(f"wrote {report}")
    return {"recording": None if out is None else str(out), "report": None if report is None else str(report)}


class Replay(LogOptions, OutOptions):
    """Run the torques, targets or motion of a log in a simulation, and report how far it is from the log.

    footfall replay walk.mcap --robot robot.urdf --law time-stepping --report replay.html

    What the motors did is replayed from where the log begins, by --use control, position, torque or track; left out,
    the first of these that the log has. Where there is an IMU, the base begins as footfall estimate finds it.
    """

    log: Path = argument("LOG", "the robot's log")
    law: str = option("time-stepping", "contact law, see footfall laws", "NAME")
    use: Literal["control", "position", "torque", "track"] | None = option(None, "what of the log is replayed")
    kp: float | None = option(None, "N m/rad, stiffness of the joints; left out, that of posture control")
    kd: float | None = option(None, "N m s/rad, their damping")
    delay: NotNegative = option(0.0, "s, by which commands act later than they were logged", unit="s")
    start: float = option(0.0, "s of the log at which the run begins", unit="s")
    duration: float | None = option(None, "s; left out, to the end of the log", unit="s")
    dt: float | None = option(None, "step, s", unit="s")
    report: Path | None = option(None, "write a page of the run beside the log", "FILE.html")

    def run(self) -> int:
        from footfall.control.replay import Replay as Controller
        from footfall.errors import FootfallError
        from footfall.ground import Ground
        from footfall.logs.difference import difference
        from footfall.logs.estimate import estimate
        from footfall.simulation import Simulation

        self.check_place(self.out)
        log = self.load(self.log)
        ground, seen = Ground.plane(friction=self.friction), None
        try:
            seen = estimate(log, ground=ground)
        except FootfallError as error:
            if log.position is None or self.report is not None:
                say(f"the base begins at rest on the ground: {error}")
        whole = seen.completed if seen is not None and log.has_imu else log
        stop = log.time[-1] if self.duration is None else self.start + self.duration
        part = whole.slice(self.start, float(stop))
        controller = Controller(part, self.use, self.kp, self.kd, self.delay)
        sim = Simulation(log.robot, ground=ground, law=self.law, dt=self.dt)
        rec = simulate(sim, controller.duration, folder=self.out, controller=controller)
        found = difference(rec, part)
        beside = () if seen is None else (seen.record(),)
        written = keep(rec, self.out, self.report, f"{log.robot.name}: {log.source} replayed", *beside)
        if self.json:
            print_json(
                found.to_dict() | {"use": str(controller), "failure": rec.failure and str(rec.failure)} | written
            )
            return 0
        print(log)
        rows = [[name, f"{off:.4f}", f"{found.velocities[name]:.3f}"] for name, off in found.joints.items()]
        print_table(("joint", "position, rad or m>", "velocity, per s>"), rows, title="off the log (rms)")
        facts = {
            "replayed": f"{controller} under {rec.law.name}",
            "within a tenth of a radian for": f"{found.within:.3g} s",
        }
        facts |= {"base off": f"{found.place:.3g} m, {found.turn:.3g} rad (rms)"}
        facts |= {f"force of {foot} off": f"{off:.4g} N (rms)" for foot, off in found.forces.items()}
        print_facts(facts)
        rec.check()
        return 0
