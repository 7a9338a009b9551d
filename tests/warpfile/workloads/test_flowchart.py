"""The picture of ``warpfile analyze --dot``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.warpfile.cli.test_errors import refused
from tests.warpfile.conftest import Invoke, write_listing
from warpfile.workloads.analysis import analyze_listing
from warpfile.workloads.inputs import bundled_kernels

LOOP = ("S2R R0, SR_TID.X", "IADD3 R0, R0, -0x1, RZ", "ISETP.GT.AND P0, PT, R0, RZ, PT", "@P0 BRA `(again)", "EXIT")


@pytest.fixture
def loop(kernel: Path) -> Path:
    """A kernel directory with a loop of another length in every lane."""
    write_listing(kernel, LOOP)
    listing = kernel / "kernel.sass"
    listing.write_text(listing.read_text().replace("        /*0010*/", "again:\n        /*0010*/"))
    return kernel


def test_blocks_edges_loops_and_divergence_are_drawn(invoke: Invoke, loop: Path) -> None:
    result = invoke("analyze", loop, "--dot", "loop.dot")
    assert result.exit_code == 0 and "live before" not in result.stdout
    text = Path("loop.dot").read_text()
    boxes = dict(re.findall(r"^    (f0_\w+) \[(label=.*)\];$", text, re.MULTILINE))
    assert list(boxes) == ["f0_0000", "f0_0010", "f0_0040"]
    assert boxes["f0_0000"] == 'label="0000  S2R R0, SR_TID.X\\l"'
    assert boxes["f0_0010"].endswith(", penwidth=3, peripheries=2") and "0030  @P0 BRA `(again)\\l" in boxes["f0_0010"]
    assert re.findall(r"^    (\w+ -> .*);$", text, re.MULTILINE) == [
        "f0_0000 -> f0_0010",
        "f0_0010 -> f0_0010 [style=dashed]",
        "f0_0010 -> f0_0040",
    ]


@pytest.mark.parametrize("kernel", ["bytecode", "calls", "mathlib"])
def test_every_edge_of_a_bundled_kernel_is_drawn(invoke: Invoke, kernel: str) -> None:
    assert invoke("analyze", kernel, "--dot", "k.dot").exit_code == 0
    (facts,) = analyze_listing(bundled_kernels()[kernel] / "kernel.sass")["functions"]
    drawn = re.findall(r"f0_(\w+) -> f0_(\w+)", Path("k.dot").read_text())
    assert [[int(one, 16) for one in edge] for edge in drawn] == facts["edges"]


def test_names_from_a_listing_stay_text(invoke: Invoke, loop: Path) -> None:
    listing = loop / "kernel.sass"
    listing.write_text(listing.read_text().replace("count", 'a"];evil["\\'))
    invoke("analyze", loop, "--dot", "loop.dot")
    assert '    label="a\\"];evil[\\"\\\\";' in Path("loop.dot").read_text()


@pytest.mark.needs("dot")
def test_a_picture_is_drawn_where_dot_is_there(invoke: Invoke, loop: Path) -> None:
    assert invoke("analyze", loop, "--dot", "loop.svg").exit_code == 0
    text = Path("loop.svg").read_text()
    assert "<svg" in text and text.count('class="node"') == 3


def test_without_dot_an_svg_is_refused(
    invoke: Invoke, folder: Path, loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    refused(invoke("analyze", loop, "--dot", "loop.svg"), "apt-get install graphviz", "FILE.dot")
    assert [path.name for path in folder.iterdir()] == ["count"]
    assert invoke("analyze", loop, "--dot", "loop.dot").exit_code == 0
