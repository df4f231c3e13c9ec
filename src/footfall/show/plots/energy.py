"""Energy: what the robot has, what goes in and out."""

from __future__ import annotations

from footfall import measure
from footfall.show.panels import Curve, Panel, Runs, each_run


def energy(runs: Runs, *, brief: bool = False) -> list[Panel]:
    """Kinetic and potential energy, works since the first sample; of several recordings a panel for each quantity."""
    if len(runs) > 1:
        own = {label: measure.energy(rec) for label, rec in runs.items()}
        quantities = {
            "mechanical energy": {label: one.mechanical - one.mechanical[:1] for label, one in own.items()},
            "work of the ground": {label: one.contact_work for label, one in own.items()},
            "work of actuators": {label: one.actuator_work for label, one in own.items()},
        }
        return [
            Panel(
                title=f"{name.capitalize()} since the start",
                label=name,
                unit="J",
                curves=tuple(curve._replace(values=values[curve.name]) for _, curve in each_run(runs)),
                narrow=1e-3,
            )
            for name, values in quantities.items()
        ]
    rec = next(iter(runs.values()))
    one = measure.energy(rec)
    held = (("kinetic", one.kinetic), ("potential, since the start", one.potential - one.potential[:1]))
    moved = (
        ("work of actuators", one.actuator_work),
        ("work of the ground", one.contact_work),
        ("lost", one.dissipated),
    )
    return [
        Panel(
            title=title,
            label=label,
            unit="J",
            curves=tuple(Curve(name, rec.time, values, first + i) for i, (name, values) in enumerate(quantities)),
            narrow=1e-3,
        )
        for title, label, first, quantities in (
            ("Energy", "energy", 0, held),
            ("Work and loss since the start", "since the start", 2, moved),
        )
    ]
