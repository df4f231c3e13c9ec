"""Contact problems solved by the lanes of a GPU's warp together, for worlds whose feet do not all stand.

A lane for each world would be slow: it works through memory alone, and all others wait while the one with the hardest
problem does. So the lanes of a warp solve one problem, each lane its share, in the fast memory that they share.
"""
