"""A user's coupled law with scratch of its own: each foot rests on one spring and damper at its mean depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import footfall as ff
from footfall.contact.base import CoupledLaw
from footfall.contact.setting import Setting
from footfall.solve.problem import Size


class Parameters(NamedTuple):
    k: float  # N/m
    c: float  # N s/m


class Feet(NamedTuple):
    near: np.ndarray  # (K,) points of each foot
    depth: np.ndarray  # (K, 2) m and m/s, sums over them


class Scratch(NamedTuple):
    load: np.ndarray  # (P,) N
    feet: Feet


def mean_depth(contacts, dt, memory, force, mode, scratch, signals, parameters):
    feet, load = scratch.feet, scratch.load
    for b in range(feet.near.size):
        feet.near[b], feet.depth[b, 0], feet.depth[b, 1] = 0, 0.0, 0.0
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        b = contacts.body[p]
        feet.near[b] += 1
        feet.depth[b, 0] -= contacts.gap[p]
        feet.depth[b, 1] -= contacts.velocity[p, 2]
    for i in range(contacts.number[0]):
        p = contacts.points[i]
        b = contacts.body[p]
        load[p] = max(0.0, parameters.k * feet.depth[b, 0] + parameters.c * feet.depth[b, 1]) / feet.near[b]
        limit = contacts.dynamic_friction[p] * load[p]
        v = contacts.velocity[p]
        force[p, 0], force[p, 1], mode[p] = ff.contact.coulomb(-parameters.c * v[0], -parameters.c * v[1], limit)
        force[p, 2] = load[p]
    return 0


@dataclass(frozen=True, kw_only=True)
class MeanDepth(CoupledLaw):
    k: float = 2e4
    c: float = 300.0

    name = "mean-depth"
    citation = "none"
    operator = False
    kernel = staticmethod(mean_depth)

    def scratch(self, size: Size) -> Scratch:
        bodies = Feet(np.zeros(size.bodies, dtype=np.int64), np.zeros((size.bodies, 2)))
        return Scratch(np.zeros(size.points), bodies)

    def resolve(self, setting: Setting) -> Parameters:
        return Parameters(k=self.k, c=self.c)


@dataclass(frozen=True, kw_only=True)
class WithOperator(MeanDepth):
    """The same, asked as laws are that need the Delassus operator."""

    operator = True
