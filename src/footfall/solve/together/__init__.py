"""Contact problems solved by the lanes of a GPU's warp together, for worlds whose feet do not all stand.

One lane per world would be slow: it would work in global memory, and all lanes would wait for the one with the hardest
problem. So the lanes of a warp solve one problem together, in shared memory.
"""
