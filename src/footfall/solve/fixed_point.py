"""Fixed points x = g(x) by Anderson's acceleration.

An affine map whose slope has rank r is solved in r + 1 evaluations, whether it contracts or not; a piecewise affine one
nearly so, once its pieces are found.
"""

from __future__ import annotations

from footfall.compiled import kernel
from footfall.solve.dense import copy, minimum_norm_solve

#: Differences remembered.
DEPTH = 8
#: Rows of ``history`` for vectors of any size, and its square companion's side.
HISTORY_ROWS = 2 * DEPTH + 2
#: Differences of residuals that depend on each other by less than this are one.
TOLERANCE = 1e-13


@kernel
def accelerate(x, image, number, history, small):
    """Replace ``x``, the ``number``-th iterate counted from 0, by the next one, given its ``image`` g(x).

    ``history`` (HISTORY_ROWS, n) and ``small`` (4, DEPTH, DEPTH) are kept between the calls.
    """
    n = x.size
    last_image, last_residual = history[2 * DEPTH], history[2 * DEPTH + 1]
    gram, factor, square, vectors = small[0], small[1], small[2], small[3]
    known = min(number, DEPTH)
    if number > 0:
        row = (number - 1) % DEPTH
        for j in range(n):
            history[row, j] = image[j] - last_image[j]
            history[DEPTH + row, j] = (image[j] - x[j]) - last_residual[j]
    copy(last_image, image)
    for j in range(n):
        last_residual[j] = image[j] - x[j]
    for a in range(known):
        value = 0.0
        for j in range(n):
            value += history[DEPTH + a, j] * last_residual[j]
        vectors[0, a] = value
        for b in range(a + 1):
            value = 0.0
            for j in range(n):
                value += history[DEPTH + a, j] * history[DEPTH + b, j]
            gram[a, b] = value
    minimum_norm_solve(gram, known, TOLERANCE, vectors[0], factor, square, vectors[1])
    for j in range(n):
        value = image[j]
        for a in range(known):
            value -= vectors[0, a] * history[a, j]
        x[j] = value
