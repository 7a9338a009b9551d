"""``python -m warpfile.evidence [SCHEME...] [--write]``: the tables of docs/schemes/<scheme>-evidence.md."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

from warpfile.display import progress, say
from warpfile.evidence.study import Study
from warpfile.schemes import SCHEMES

DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "schemes"


def pages() -> dict[str, str]:
    """Modules of the pages by their scheme's name; each has ``points`` and ``page``."""
    return {name: scheme.study for name, scheme in SCHEMES.items() if scheme.study}


def main(arguments: list[str]) -> None:
    """Run what the pages compare, print them, and with ``--write`` replace the files."""
    known = pages()
    parser = argparse.ArgumentParser(prog="python -m warpfile.evidence", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="SCHEME", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--write", action="store_true", help="replace the pages")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.pages if name not in known]:
        parser.error(f"SCHEME must be one of {', '.join(known)}, not {unknown[0]!r}")
    for name in options.pages or known:
        module: ModuleType = importlib.import_module(known[name])
        with progress(name) as report:
            study = Study(module.points(), report)
        text = f"# `{name}` on the bundled kernels\n\nWritten by `python -m warpfile.evidence {name} --write`.\n"
        text += "Golden model, all kernels: large launches, small ones in the sweeps.\n\n"
        text += module.page(study)
        if options.write:
            (DOCS / f"{name}-evidence.md").write_text(text)
        say(text)


if __name__ == "__main__":
    main(sys.argv[1:])
