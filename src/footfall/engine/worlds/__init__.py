"""Many worlds at once: the step of one world as a plain kernel, run by the threads of a CPU or of a GPU.

Worlds are independent. What a world keeps from step to step is in :class:`arrays.WorldState`. The scratch space of a
step belongs to the thread or GPU lane that computes it, and serves one world after another.
"""
