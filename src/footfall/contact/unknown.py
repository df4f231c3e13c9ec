"""A law that is not known in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from footfall.contact.base import Law
from footfall.errors import LawError


@dataclass(frozen=True, kw_only=True)
class UnknownLaw(Law):
    """Stands for the unregistered law of a loaded recording: name and options, but no forces."""

    name: str  # type: ignore[misc]
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)

    citation = "unknown"

    def options(self) -> dict[str, Any]:
        return dict(self.given)

    def resolve(self, setting: Any) -> Any:
        raise LawError(
            f"the law '{self.name}' of this recording is not known here; import the module that registers it "
            "and load the recording again"
        )
