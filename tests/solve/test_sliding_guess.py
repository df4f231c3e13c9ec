"""The direction of friction under a sliding point, found by turning it against the slip."""

from __future__ import annotations

import numpy as np

from footfall.solve.contact_guess import GUESSES, turn

#: Of a unit vector, as where guesses end.
RIGHT = 1e-9


def slow_slips(count: int = 200):
    """Velocities that a point would have without friction, and what a unit of it changes: slips that nearly stop."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        root = rng.normal(size=(2, 2))
        mobility = root @ root.T + 0.1 * np.eye(2)
        angle = rng.uniform(0, 2 * np.pi)
        slip = 10 ** rng.uniform(-1, 1) * np.array([np.cos(angle), np.sin(angle)])
        yield mobility, slip + mobility @ slip / np.linalg.norm(slip)  # the friction that stops it is known: -slip


def turns(mobility, free, *, secant: bool, most: int = 200) -> int:
    """Guesses until friction is against the slip, begun with what would be against the free motion."""
    x, y = -free / np.linalg.norm(free)
    last = before = 0.0
    for count in range(1, most):
        slip = free + mobility @ (x, y)
        ax, ay = -slip / np.linalg.norm(slip)
        if max(abs(ax - x), abs(ay - y)) <= RIGHT:
            return count
        x, y, last, before = turn.py_func(x, y, ax, ay, last if secant else 0.0, before)
    return most


def test_a_secant_finds_in_a_few_turns_what_substitution_takes_dozens_for():
    problems = list(slow_slips())
    by_secant = np.array([turns(*one, secant=True) for one in problems])
    by_substitution = np.array([turns(*one, secant=False) for one in problems])
    assert np.mean(by_substitution > GUESSES) > 0.8
    assert np.mean(by_secant > GUESSES) < 0.8 / 3
    assert np.median(by_secant) <= 0.8 * GUESSES
