"""Many worlds at once: the step of one as a plain kernel, and who runs it, the threads of a CPU or those of a GPU.

Worlds do not know each other. What a world keeps from step to step is in :class:`arrays.State`; the space that a step
needs beside it belongs to whoever computes, a thread or a GPU's lane, and goes from world to world with it.
"""
