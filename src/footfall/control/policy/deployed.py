"""Contracts from the YAML files with which Unitree deploys policies.

``deploy.yaml`` of unitree_rl_lab and unitree_rl_mjlab describes observations, actions and gains; a config of
unitree_rl_gym has the numbers of one known layout.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.control.policy.contract import Action, Clock, Command, Contract, Part, Servos, part_named
from footfall.errors import ControllerError, optional_package

#: Hz, of the phases of unitree_rl_gym, whose files do not give it.
GYM_CLOCK = 1.25
#: A command that is asked for unless another is given, m/s forward.
FORWARD = 0.5


def read_deployed(given: str | os.PathLike[str]) -> tuple[Contract, ...]:
    """The contract of a YAML file; nothing if it is no such file."""
    path = Path(given).expanduser()
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return ()
    yaml, where = optional_package("yaml", f"'{path}'"), f"'{path}'"
    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ControllerError(f"cannot read the contract {where}: {error}") from error
    try:
        if "observations" in table:
            return (_of_lab(table, path.stem, where),)
        if "kps" in table:
            return (_of_gym(table, path.stem, where),)
    except KeyError as error:
        raise ControllerError(f"{where} has no {error}, which Unitree's files have") from error
    except (TypeError, ValueError, IndexError) as error:
        raise ControllerError(f"{where} is not as Unitree writes it: {error}") from error
    raise ControllerError(f"{where} is no contract: neither a deploy.yaml nor a config of unitree_rl_gym")


def _of_lab(table: Mapping[str, Any], name: str, where: str) -> Contract:
    """Pose, scale and offset are in the order of the policy, gains in that of the robot's motors."""
    numbers, pose = [int(one) for one in table["joint_ids_map"]], table["default_joint_pos"]
    ((kind, action),) = table["actions"].items()
    if kind != "JointPositionAction" or action.get("clip") is not None or action.get("joint_ids") is not None:
        raise ControllerError(f"{where}: actions other than the targets of all joints, without a clip, are not known")
    if any(action["offset"]) and not np.allclose(action["offset"], pose):
        raise ControllerError(f"{where}: actions count neither from the pose nor from zero")
    terms = dict(table["observations"])
    by_frame = bool(terms.pop("use_gym_history", False))
    clock, parts = None, []
    for term, given in terms.items():
        length = int(given.get("history_length") or 1)
        if term == "gait_phase":
            if length > 1:
                raise ControllerError(f"{where}: a history of the phase is not known")
            clock = Clock(1.0 / float(given["params"]["period"]))
            parts += [Part("phase-sin"), Part("phase-cos")]
            continue
        if (given.get("params") or {}).get("asset_cfg"):
            raise ControllerError(f"{where}: '{term}' of a part of the joints is not known")
        scale, clip = tuple(given.get("scale") or (1.0,)), given.get("clip")
        scale = scale[0] if len(set(scale)) == 1 else scale
        bound = np.inf if clip is None else float(clip[1]) * float(np.max(scale))  # it clips before it scales
        parts.append(Part(part_named(term, where), scale=scale, clip=bound, history=1 if by_frame else length))
    ranges = table["commands"]["base_velocity"]["ranges"]
    low, high = zip(*(ranges[one] for one in ("lin_vel_x", "lin_vel_y", "ang_vel_z")), strict=True)
    return Contract(
        parts=tuple(parts),
        name=name,
        control_dt=float(table["step_dt"]),
        joints=tuple(numbers),
        pose=tuple(pose),
        action=Action(scale=tuple(action["scale"]), offset="pose" if any(action["offset"]) else "zero"),
        servos=Servos(*(_in_order(table[one], numbers) for one in ("stiffness", "damping"))),
        clock=clock,
        command=Command((min(FORWARD, high[0]), 0.0, 0.0), low, high),
        history=max(int(one.get("history_length") or 1) for one in terms.values()) if by_frame else 1,
    )


def _in_order(values: Sequence[float], numbers: Sequence[int]) -> tuple[float, ...]:
    """Values of motors in the order of the policy; a list without gaps is in the order of the motors that there are."""
    places = sorted(numbers)
    return tuple(values[one if len(values) > places[-1] else places.index(one)] for one in numbers)


def _of_gym(table: Mapping[str, Any], name: str, where: str) -> Contract:
    command = Part("command", scale=tuple(table["cmd_scale"]))
    parts = [Part("gyro", scale=table["ang_vel_scale"]), Part("gravity"), command]
    parts += [Part("joints", scale=table["dof_pos_scale"]), Part("joint-speeds", scale=table["dof_vel_scale"])]
    parts.append(Part("last-action"))
    if "lin_vel_scale" in table:
        parts.insert(0, Part("velocity", scale=table["lin_vel_scale"]))
    more = int(table["num_obs"]) - 9 - 3 * int(table["num_actions"]) - 3 * ("lin_vel_scale" in table)
    if more not in (0, 2):
        raise ControllerError(f"{where}: what the other {more} of its {table['num_obs']} numbers are is not known")
    if more:
        parts += [Part("phase-sin"), Part("phase-cos")]
    asked = tuple(float(one) for one in table["cmd_init"])
    return Contract(
        parts=tuple(parts),
        name=name,
        control_dt=float(table["simulation_dt"]) * int(table["control_decimation"]),
        pose=tuple(table["default_angles"]),
        action=Action(scale=float(table["action_scale"])),
        servos=Servos(tuple(table["kps"]), tuple(table["kds"])),
        clock=Clock(GYM_CLOCK) if more else None,
        command=Command(asked, (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0)),
    )
