"""The netlist of the timed flow survives a file, and is the one that was counted."""

from pathlib import Path

import pytest

from tests.synth.wires.designs import TOP, design
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.wires.flat import flattened


def test_a_netlist_survives_a_file(tmp_path: Path) -> None:
    netlist = KeptNetlist(flattened(design(4), TOP), {3: 0.25, 70: 12.0})
    netlist.write(tmp_path / "new" / "one.json.gz")
    assert KeptNetlist.read(tmp_path / "new" / "one.json.gz") == netlist


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.json.gz").write_text("{}")
    with pytest.raises(OSError, match="Not a gzipped file"):
        KeptNetlist.read(tmp_path / "one.json.gz")
