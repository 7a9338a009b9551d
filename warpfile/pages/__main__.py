"""``python -m warpfile.pages [--check] NAME [OPTION]...``: every generated page has its one program here.

A NAME writes its pages, all of them or those that its options choose; with ``--check`` it says which pages differ from
what it would write. ``all`` stands for all NAMEs that write a page. Without a NAME this lists them.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warpfile.output.display import say, show_table

ALL = "all"
Main = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Program:
    """A program: the pages that it writes, none if it only prints, and the order of its time from nothing."""

    pages: str
    time: str
    module: str = ""

    def main(self, name: str) -> Main:
        """What runs it; returns the exit status."""
        found: Main = importlib.import_module(self.module or f"warpfile.pages.{name}").main
        return found


#: By name, the quickest first.
PROGRAMS = {
    "integration": Program("integration.md (fields)", "seconds"),
    "presets": Program("presets.md", "seconds"),
    "opcodes": Program("opcodes.md", "seconds"),
    "micro": Program("micro.md (table)", "seconds"),
    "register_files": Program("slots/rf.md (table, figure)", "seconds"),
    "arrays": Program("arrays.md", "seconds"),
    "cost": Program("cost.md", "seconds"),
    "proofs": Program("proofs.md", "seconds", "tests.formal.proofs"),
    "clock_gates": Program("clock-gates.md", "minutes"),
    "cycle": Program("integration.md (cycle)", "minutes"),
    "fpga": Program("fpga.md", "minutes"),
    "peers": Program("schemes/baseline.md (table)", "minutes"),
    "outside": Program("outside.md (table)", "minutes"),
    "readme": Program("../README.md (blocks)", "minutes"),
    "energies": Program("energy-schemes.md", "minutes"),
    "netlists": Program("netlists.md", "minutes", "tests.synth.netlists"),
    "allocated_ptx": Program("ptx.md (tables)", "minutes"),
    "forms": Program("forms.md", "hours"),
    "schedulers": Program("assumptions.md (tables)", "minutes"),
    "pilot_banks": Program("schemes/pilot.md (tables)", "hours", "warpfile.pages.evidence.pilot_banks"),
    "ltrf_engine": Program("schemes/ltrf.md (tables)", "hours", "warpfile.pages.evidence.ltrf_engine"),
    "regress": Program("regress-SCHEME.md", "hours"),
    "evidence": Program("schemes/SCHEME-evidence.md", "hours", "warpfile.pages.evidence.command"),
    "mutation": Program("mutation-SCHEME.md", "hours"),
    "search": Program("search-turing.md", "hours"),
    "bench": Program("", "minutes"),
    "cacti": Program("", "seconds"),
    "lengths": Program("", "minutes"),
    "published_intervals": Program("", "minutes"),
    "readability": Program("", "minutes"),
    "scalar_values": Program("", "minutes"),
    "scaling": Program("", "minutes"),
    "sticky_tables": Program("", "seconds"),
}


def main(arguments: Sequence[str]) -> int:
    """Run one program or all that write pages; 1 if one of them found a difference or could not be made."""
    parser = argparse.ArgumentParser(prog="python -m warpfile.pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say which pages differ")
    parser.add_argument("name", nargs="?", metavar="NAME", choices=(*PROGRAMS, ALL), help="see the list without a NAME")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTION", help="NAME --help has them")
    chosen = parser.parse_args(arguments)
    if chosen.name is None:
        show_table(("name", "pages of docs/", "time"), ((name, one.pages, one.time) for name, one in PROGRAMS.items()))
        return 0
    options = ["--check", *chosen.options] if chosen.check else chosen.options
    if chosen.name != ALL:
        return PROGRAMS[chosen.name].main(chosen.name)(options)
    return max(_ran(name, one, options) for name, one in PROGRAMS.items() if one.pages)


def _ran(name: str, program: Program, options: Sequence[str]) -> int:
    """The exit status of one of all: what cannot be made here does not keep the others from being made."""
    try:
        return program.main(name)(options)
    except (ImportError, OSError, ValueError) as error:
        say(f"{name}: not made: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
