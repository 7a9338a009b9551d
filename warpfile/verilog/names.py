"""What the modules of generated files are called."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpfile.schemes import TOP
from warpfile.spec.structure import BANK_RAM, RAMS

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: Modules of the SRAMs, behind the prefix; that of a register bank has a name here.
_SRAMS = {name: name.removeprefix("register_").replace("_ram", "_sram") for name in RAMS}
SRAM = _SRAMS[BANK_RAM]


@dataclass(frozen=True)
class Names:
    """``prefix`` stands before the name of every module but the top one. Raises ``ValueError`` for what no module may
    be called."""

    prefix: str
    top: str

    def __post_init__(self) -> None:
        for option, name in (("prefix", self.prefix or "_"), ("top", self.top)):
            if not _IDENTIFIER.fullmatch(name):
                raise ValueError(f"{option} must be letters, digits and underscores behind a letter, not {name!r}")

    @classmethod
    def of(cls, scheme: str, alone: bool, prefix: str | None, top: str | None) -> Names:
        """By default ``warpfile_`` and ``warpfile``; beside other schemes each has its name in both."""
        base = f"{TOP}_" if prefix is None else prefix
        if not alone:
            if top is not None:
                raise ValueError("top must name one scheme: give a prefix for several")
            base += re.sub(r"\W", "_", scheme) + "_"
        return cls(base, top if top is not None else base.rstrip("_") or TOP)

    @property
    def package(self) -> str:
        """Of the SystemVerilog package with the records of the pins."""
        return f"{self.top}_pkg"

    def module(self, name: str) -> str:
        """Of a module as the generator knows it: a path with dots, or a name of its own."""
        if name == TOP:
            return self.top
        own = _SRAMS.get(name) or name.removeprefix(f"{TOP}.").replace(".", "_")
        return self.prefix + own
