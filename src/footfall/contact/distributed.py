"""Testing points spread over the sole: impact, adherence, sliding and the transitions (Bruneau and Ouezdou 1999).

Every testing point below the ground is pushed up by a nonlinear spring and damper (16). While the foot adheres, a
spring and damper hold each point to the place where it touched down, its anchor (17)-(18). When the resultant of the
*foot* leaves the static cone, all its points begin to slide at once, each in the direction frozen at that instant
(20), against dynamic friction and a viscous part (22); each point sticks again when its own sliding speed changes sign.
Both changes are blended in over a short time (27), (29). The foot's moment (41) and its moving centre of pressure
follow from the distribution.

Departures from the print: (25)-(26) multiply each component's own velocity; the speed along the sliding direction of
(22) is meant. The damping of (16) may pull; that is clipped here. The force of adherence from which (27) starts is
taken at the beginning of sliding, limited to the cone, and scaled with the load from then on: the damper of (17)-(18)
is unlimited when a foot lands at speed, and its unscaled force would leave a foot that lands and slides next to no
friction until the transition is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

from footfall.arguments import public
from footfall.compiled import inlined
from footfall.contact.base import SINKS, CoupledLaw
from footfall.contact.setting import Setting
from footfall.contact.springs.derived_gains import NormalTerms, OnElasticLayer, SpringLaw, check_soles, stable_damping
from footfall.given_numbers import Bounds, NotNegative, Positive
from footfall.kinds import Float, Int, Ints, Matrix, Vector
from footfall.solve.contacts import OPEN, SLIDE, STICK, Contacts

# Columns of a point's memory.
TOUCHED, SLIDING, SINCE, HELD, LOAD, DIRECTION = 0, 1, 2, 3, 4, 5
#: Time since the last transition of a point that has had none, s.
LONG_AGO = 1e9


class Parameters(NamedTuple):
    kn: float  # N/m^alpha
    mun: float  # N s/m^(1 + beta)
    kt: float  # N/m
    mut: float  # N s/m
    alpha: float
    beta: float
    mu_ts: float  # N s/m
    t_slide: float  # s, T*s of the paper
    t_stick: float  # s, Ts* of the paper
    by_foot: float  # 1 if the foot's resultant decides when sliding begins, 0 if each point's force does


@inlined
def touch_down(contacts: Contacts, memory: Matrix, p: Int) -> None:
    """Set the anchor of a point that touches the ground for the first time."""
    if memory[p, TOUCHED] == 0.0:
        memory[p, TOUCHED] = 1.0
        memory[p, SLIDING] = 0.0
        memory[p, SINCE] = LONG_AGO
        for k in range(3):
            contacts.anchor[p, k] = contacts.position[p, k]


@inlined
def adhering(contacts: Contacts, p: Int, parameters: Parameters) -> tuple[Float, Float]:
    """The tangential force of adherence (17)-(18), in the contact frame."""
    frame, v = contacts.frame[p], contacts.velocity[p]
    dx = contacts.position[p, 0] - contacts.anchor[p, 0]
    dy = contacts.position[p, 1] - contacts.anchor[p, 1]
    dz = contacts.position[p, 2] - contacts.anchor[p, 2]
    x = frame[0, 0] * dx + frame[0, 1] * dy + frame[0, 2] * dz
    y = frame[1, 0] * dx + frame[1, 1] * dy + frame[1, 2] * dz
    # Bruneau 1999, eq. 17-18
    return -parameters.kt * x - parameters.mut * v[0], -parameters.kt * y - parameters.mut * v[1]


@inlined
def tangential(
    contacts: Contacts, memory: Matrix, p: Int, normal: Float, parameters: Parameters
) -> tuple[Float, Float]:
    """The tangential force in any phase (32)-(34), for a sliding point (23)-(26), in the contact frame."""
    sliding, since = memory[p, SLIDING] == 1.0, memory[p, SINCE]
    window = parameters.t_slide if sliding else parameters.t_stick
    if not sliding and since >= window:
        return adhering(contacts, p, parameters)
    frame, v = contacts.frame[p], contacts.velocity[p]
    tx, ty = 0.0, 0.0
    for k in range(3):
        tx += frame[0, k] * memory[p, DIRECTION + k]
        ty += frame[1, k] * memory[p, DIRECTION + k]
    speed = v[0] * tx + v[1] * ty
    size = contacts.dynamic_friction[p] * normal - parameters.mu_ts * speed  # Bruneau 1999, eq. 21-22
    sx, sy = size * tx, size * ty  # Bruneau 1999, eq. 23-26
    share = min(1.0, since / window) if window > 0.0 else 1.0
    if sliding:
        held = memory[p, HELD] * normal / memory[p, LOAD]
        return held * tx + (sx - held * tx) * share, held * ty + (sy - held * ty) * share  # Bruneau 1999, eq. 27
    ax, ay = adhering(contacts, p, parameters)
    return sx + (ax - sx) * share, sy + (ay - sy) * share  # Bruneau 1999, eq. 29


@inlined
def start_sliding(contacts: Contacts, memory: Matrix, p: Int, force: Matrix, share: Float) -> None:
    """Let a point slide in the fixed direction against its force of adherence (19)-(20), which is scaled by ``share``.

    A point that moves along its force, which friction would oppose, does not begin to slide: it has just stopped, and
    the fading rest of its sliding friction (29) drives it.
    """
    x, y, normal, v = force[p, 0], force[p, 1], force[p, 2], contacts.velocity[p]
    size = (x * x + y * y) ** 0.5
    if size == 0.0 or normal == 0.0:
        return
    if x * v[0] + y * v[1] > 0.0:
        force[p, 0], force[p, 1] = share * x, share * y
        return
    memory[p, SLIDING] = 1.0
    memory[p, SINCE] = 0.0
    memory[p, HELD] = share * size
    memory[p, LOAD] = normal
    frame = contacts.frame[p]
    for k in range(3):
        memory[p, DIRECTION + k] = (x * frame[0, k] + y * frame[1, k]) / size  # Bruneau 1999, eq. 19-20
    force[p, 0], force[p, 1] = share * x, share * y


@inlined
def stop_sliding(contacts: Contacts, memory: Matrix, p: Int) -> None:
    """Let a point stick where it is, if its speed along the sliding direction has changed sign (30)."""
    frame, v = contacts.frame[p], contacts.velocity[p]
    speed = 0.0
    for k in range(3):
        speed += memory[p, DIRECTION + k] * (frame[0, k] * v[0] + frame[1, k] * v[1])
    if speed >= 0.0:  # Bruneau 1999, eq. 30
        memory[p, SLIDING] = 0.0
        memory[p, SINCE] = 0.0
        for k in range(3):
            contacts.anchor[p, k] = contacts.position[p, k]


@inlined
def macroscopic_onset(contacts: Contacts, memory: Matrix, force: Matrix, b: Int) -> None:
    """Let all points of a foot slide if the resultant of their forces leaves the static cone (35)-(40)."""
    x, y, z, limit = 0.0, 0.0, 0.0, 0.0
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        frame, f = contacts.frame[p], force[p]
        x += frame[0, 0] * f[0] + frame[1, 0] * f[1]  # Bruneau 1999, eq. 35
        y += frame[0, 1] * f[0] + frame[1, 1] * f[1]
        z += frame[0, 2] * f[0] + frame[1, 2] * f[1]
        limit += contacts.static_friction[p] * f[2]
    size = (x * x + y * y + z * z) ** 0.5  # Bruneau 1999, eq. 36
    if size < limit or size == 0.0:  # Bruneau 1999, eq. 37, 40
        return
    for i in range(contacts.near[b], contacts.near[b + 1]):
        p = contacts.points[i]
        if memory[p, SLIDING] == 0.0:
            start_sliding(contacts, memory, p, force, limit / size)  # Bruneau 1999, eq. 38-39
        else:  # it slides already; scale its force so that the foot's resultant stays on the cone
            force[p, 0] *= limit / size
            force[p, 1] *= limit / size


def distributed(
    contacts: Contacts,
    dt: Float,
    memory: Matrix,
    force: Matrix,
    mode: Ints,
    scratch: Int,
    signals: Vector,
    parameters: Parameters,
) -> Int:
    """Normal force, the same in all phases (31), and tangential force of every testing point: a coupled kernel."""
    for b in range(contacts.near.size - 1):
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            touch_down(contacts, memory, p)
            memory[p, SINCE] += dt
            if memory[p, SLIDING] == 1.0:
                stop_sliding(contacts, memory, p)
            depth, rate = max(0.0, -contacts.gap[p]), contacts.velocity[p, 2]
            spring, damper = depth**parameters.alpha, depth**parameters.beta
            normal = max(0.0, parameters.kn * spring - parameters.mun * damper * rate)  # Bruneau 1999, eq. 16, 31
            x, y = 0.0, 0.0
            if normal > 0.0:
                x, y = tangential(contacts, memory, p, normal, parameters)  # Bruneau 1999, eq. 32-34
            force[p, 0], force[p, 1], force[p, 2] = x, y, normal
            if parameters.by_foot == 0.0 and memory[p, SLIDING] == 0.0:
                size, limit = (x * x + y * y) ** 0.5, contacts.static_friction[p] * normal
                if size >= limit and size > 0.0:  # Bruneau 1999, eq. 28
                    start_sliding(contacts, memory, p, force, limit / size)
        if parameters.by_foot == 1.0:
            macroscopic_onset(contacts, memory, force, b)
        for i in range(contacts.near[b], contacts.near[b + 1]):
            p = contacts.points[i]
            if force[p, 2] == 0.0:
                mode[p] = OPEN
            else:
                mode[p] = SLIDE if memory[p, SLIDING] == 1.0 else STICK
    return 0


@public
@dataclass(frozen=True, kw_only=True)
class Distributed(OnElasticLayer, SpringLaw, CoupledLaw):
    """Nonlinear spring-damper points over the whole sole, with adherence, sliding and blended transitions.

    Options have the paper's names and are per point; its own values are ``kn=9950, mun=450, kt=90, mut=950, mu_ts=1``,
    for 36 points under 75 kg. Left at ``None``, ``kn`` lets the point that carries most rest 1 mm deep, or less where
    the robot would tip or is smaller than 10 cm, as for all springs: on the paper's, soft as foam (6 mm), few other
    robots stand. The others are the paper's scaled to the load of a point of this robot, and dampings are smaller where
    the step would make them unstable. ``criterion`` is ``"foot"``: all points of a foot begin to slide when its
    resultant leaves the static cone; or ``"point"``: each point on its own.

    Limitations: adherence is a weak spring and a damper, as in the paper, so a loaded foot creeps until the spring
    holds it; :meth:`creep` gives the speed. The friction of a point may exceed its cone while its foot's does not.

    Attributes:
        kn: N/m^alpha per point, normal stiffness; left out, for 1 mm under the largest load.
        mun: N s/m^(1 + beta) per point, normal damping; left out, the paper's for this load.
        kt: N/m per point, stiffness of adherence; left out, the paper's for this load.
        mut: N s/m per point, damping of adherence; left out, the paper's for this load.
        alpha: exponent of the depth in the spring.
        beta: exponent of the depth in the damper.
        mu_ts: N s/m, viscous part of sliding friction.
        t_slide: s, blending from adherence to sliding.
        t_stick: s, blending from sliding to adherence.
        criterion: whose resultant must leave the cone before points slide.
    """

    kn: Positive | None = None
    mun: NotNegative | None = None
    kt: Positive | None = None
    mut: Positive | None = None
    alpha: Annotated[float, Bounds(1.0, 3.0)] = 1.2
    beta: Annotated[float, Bounds(0.0, 3.0)] = 0.02
    mu_ts: NotNegative | None = None
    t_slide: NotNegative = 0.01
    t_stick: NotNegative = 0.01
    criterion: Literal["foot", "point"] = "foot"

    name = "distributed"
    citation = "Bruneau and Ouezdou 1999, eq. 16-41"
    operator = False
    memory_size = 8
    gains = ("kn", "mun")
    kernel = staticmethod(distributed)

    #: The paper's table, per point: normal stiffness (N/m^alpha) and damping (N s/m^(1 + beta)), stiffness (N/m) and
    #: damping (N s/m) of adherence, and viscous friction in sliding (N s/m).
    PAPER_KN, PAPER_MUN, PAPER_KT, PAPER_MUT, PAPER_MU_TS = 9950.0, 450.0, 90.0, 950.0, 1.0
    #: Load of one of the paper's 36 points when its robot stands, N.
    PAPER_LOAD = 75.0 * 9.81 / 36.0

    by_design = SINKS

    def __post_init__(self) -> None:
        self.check_gains()

    @property
    def cone_of_foot(self) -> bool:
        return self.criterion == "foot"

    @property
    def unclaimed(self) -> Mapping[str, str]:
        fades = "friction fades over t_stick after a slip has ended, and drives the point meanwhile (29)"
        frozen = {"friction direction": "a point slides along the direction frozen when it began to (20)"}
        return frozen | ({"friction energy": fades} if self.t_stick else {})

    @classmethod
    def of_layer(cls, normal: float, shear: float, options: dict[str, Any]) -> Self:
        return cls(kn=normal, kt=shear, alpha=1.0, **options)

    def resolve(self, setting: Setting) -> Parameters:
        check_soles(self, setting.robot)
        scale = setting.load / self.PAPER_LOAD
        stable = stable_damping(setting)
        load = setting.load if self.rest_penetration is not None else setting.largest_load
        kn = self.stiffness(load, setting.tipping, setting.size)
        return Parameters(
            kn=kn,
            mun=self.damping(setting, kn),
            kt=self.PAPER_KT * scale if self.kt is None else self.kt,
            mut=min(self.PAPER_MUT * scale, stable) if self.mut is None else self.mut,
            alpha=self.alpha,
            beta=self.beta,
            mu_ts=min(self.PAPER_MU_TS * scale, stable) if self.mu_ts is None else self.mu_ts,
            t_slide=self.t_slide,
            t_stick=self.t_stick,
            by_foot=float(self.criterion == "foot"),
        )

    @property
    def exponents(self) -> tuple[float, float]:
        return self.alpha, self.beta

    def default_damping(self, setting: Setting, terms: NormalTerms) -> float:
        return min(self.PAPER_MUN * setting.load / self.PAPER_LOAD, stable_damping(setting))

    def creep(self, ratio: float, setting: Setting) -> float:
        return ratio * setting.ground.static_friction * setting.load / self.resolve(setting).mut
