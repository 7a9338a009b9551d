"""A package with a scheme of its own, installed into a folder that is on the path."""

from __future__ import annotations

from pathlib import Path

ROWS = """
from dataclasses import replace

from warpfile.schemes import Part, Scheme
from warpfile.schemes.baseline import BANKED, UNITS

SLOW = replace(BANKED, name="{part}", summary="a copy", rtl="{package}.rtl:File")
PARTS = (SLOW,)
SCHEMES = (Scheme(name="{scheme}", summary="units over a copy", preset="tiny", collectors=UNITS, rf=SLOW),)
"""
RTL = "from warpfile.hdl.rf.banked.file import BankedFile as File\n"


def install(folder: Path, package: str, *, scheme: str = "copied", part: str = "copy", rows: str = ROWS) -> Path:
    """Write a package and what pip would write beside it; returns the folder of its modules."""
    home = folder / package
    home.mkdir(parents=True)
    (home / "__init__.py").write_text("")
    (home / "rtl.py").write_text(RTL)
    (home / "rows.py").write_text(rows.format(package=package, scheme=scheme, part=part))
    facts = folder / f"{package}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[warpfile.schemes]\n{package} = {package}.rows\n")
    return home
