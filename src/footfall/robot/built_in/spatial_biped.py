"""The spatial biped of Rengifo, Aoustin, Chevallereau and Plestan 2009: five links, two rectangular feet, 14
motors.

The paper gives the structure (a trunk, two thighs, two shanks and two rectangular feet in a serial chain,
fourteen motorised joints, 20 degrees of freedom with the base, the eight vertices of the feet as contact
points) but not how the joints are spread, nor any mass or length. Assumed here: seven joints a leg as hip
yaw, roll, pitch; knee pitch; ankle pitch, roll, yaw. Size 1.5 m and 45 kg, masses and lengths by the human
fractions of Winter, Biomechanics and Motor Control of Human Movement, 4th ed., table 4.1 and figure 4.1; hip
joints 0.12 of the height apart; soles of 0.22 x 0.10 m with the ankle 0.3 of the length from the heel; rotors
of 0.05 kg m2 reflected through the gears at each joint; joint limits near a human's. x is forward, y left, z
up; a flexed hip is negative, a flexed knee positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from footfall.errors import RobotError, did_you_mean
from footfall.robot.built_in import parts
from footfall.robot.built_in.parts import FROM_HEIGHT, SIDES, Hinge

ANKLE_FROM_HEEL = 0.3  # of the foot's length
#: Torques at 45 kg and 1.5 m.
HIP = (
    Hinge("hip_yaw", "z", (-0.8, 0.8), 100.0),
    Hinge("hip_roll", "x", (-0.7, 0.7), 200.0),
    Hinge("hip_pitch", "y", parts.HIP_RANGE, 200.0),
)
KNEE = (Hinge("knee_pitch", "y", parts.KNEE_RANGE, 250.0),)
ANKLE = (
    Hinge("ankle_pitch", "y", parts.ANKLE_RANGE, 150.0),
    Hinge("ankle_roll", "x", (-0.6, 0.6), 150.0),
    Hinge("ankle_yaw", "z", (-0.5, 0.5), 100.0),
)


@dataclass(frozen=True)
class Parameters(parts.Checked):
    """Total mass in kg; height and lengths in m (those left out follow the height).

    ``ankle_height`` is that of the ankle above the sole, ``hip_width`` the distance between the hip joints,
    ``armature`` the reflected rotor inertia at each joint in kg m2, ``knee`` the flexion of both knees in the
    home pose in rad. ``actuators`` is "motor" (control is a torque in N m) or "position" (control is a joint
    angle in rad, torque kp (ctrl - angle) - kd rate, with ``kp`` in N m/rad and ``kd`` in N m s/rad).
    """

    robot = "spatial-biped"
    fractions = parts.LENGTHS | {"foot_length": 0.22 / 1.5, "foot_width": 0.10 / 1.5}
    mass: float = 45.0
    height: float = 1.5
    thigh: float = FROM_HEIGHT
    shank: float = FROM_HEIGHT
    ankle_height: float = FROM_HEIGHT
    foot_length: float = FROM_HEIGHT
    foot_width: float = FROM_HEIGHT
    hip_width: float = FROM_HEIGHT
    armature: float = 0.05
    knee: float = 0.35
    actuators: str = "motor"
    kp: float = 1000.0
    kd: float = 50.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.actuators not in ("motor", "position"):
            raise RobotError(
                f"actuators of robot 'spatial-biped' cannot be {self.actuators!r}: "
                f"{did_you_mean(str(self.actuators), ('motor', 'position'))}"
            )


def build(p: Parameters) -> tuple[mujoco.MjSpec, None]:
    """The spec; the feet are found from the sole boxes."""
    spec, trunk = parts.new_robot("spatial-biped", "trunk")
    parts.dress_trunk(trunk, p.mass, p.height, p.hip_width)
    ankle_from_heel = ANKLE_FROM_HEEL * p.foot_length
    for side in SIDES:
        links = parts.add_leg(trunk, side, p, foot_width=p.foot_width, ankle_from_heel=ankle_from_heel)
        for link, hinges in zip(links, (HIP, KNEE, ANKLE), strict=True):
            parts.add_joints(spec, link, side, hinges, p, p.mass * p.height / (45.0 * 1.5))
    for actuator in spec.actuators if p.actuators == "position" else ():
        actuator.ctrllimited, actuator.ctrlrange = mujoco.mjtLimited.mjLIMITED_AUTO, [0.0, 0.0]
        actuator.set_to_position(kp=p.kp, kv=p.kd)
    parts.set_home(spec, p.knee, p.foot_length / 2 - ankle_from_heel)
    return spec, None
