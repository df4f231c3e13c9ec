"""Why a step that was taken has no exact derivative, by number."""

from __future__ import annotations

EXACT, FAILED, BETWEEN, UNSOLVED, ROLLS, BOUNCES, BESIDE = range(7)
REASONS = (
    "",
    "the step fails",
    "contacts between bodies act",
    "the law found no exact solution of this step",
    "an ellipsoid rolls on the ground",
    "several points of one body bounce, and how they share their forces jumps as it tilts",
    "a body other than a foot is near the ground, for whose points there is no room on a GPU under this law",
)
