"""Learned policies as controllers: :class:`Policy`, and the contracts that say what they observe and do."""

from footfall.control.policy.contract import Contract, ready
from footfall.control.policy.policy import Policy

__all__ = ["Contract", "Policy", "ready"]
