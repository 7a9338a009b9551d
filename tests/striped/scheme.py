"""What is declared of the striped register file."""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.schemes import PARTS, Part
from warpfile.spec.config import Config, number_field
from warpfile.spec.contract import Gives


@dataclass(frozen=True, kw_only=True)
class StripedConfig(Config):
    """Odd rows take longer."""

    stripe: int = number_field(0, 7, "cycles that an access of an odd row takes beside bank_cycles", 1)

    @property
    def gives(self) -> Gives:
        """The longest access is that of an odd row."""
        return Gives(cycles=self.bank_cycles + self.stripe)


FILE = Part(
    name="striped",
    slot="rf",
    summary="for tests",
    golden="tests.striped.golden:StripedFile",
    rtl="tests.striped.rtl:StripedFile",
    parameters=StripedConfig,
    offers=PARTS["banked"].offers,
)
