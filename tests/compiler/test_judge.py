"""Control flow and life ranges equal those of nvdisasm on every bundled kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler import judge
from warpfile.compiler import load_listing

CUBINS = sorted((Path(__file__).parents[2] / "kernels").glob("*/kernel.cubin"))

pytestmark = pytest.mark.needs("nvdisasm")


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.parent.name)
def test_blocks_and_edges(cubin: Path) -> None:
    judge.compare_graphs(cubin, load_listing(cubin.with_suffix(".sass")))


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.parent.name)
def test_life_ranges(cubin: Path) -> None:
    judge.compare_life_ranges(cubin, load_listing(cubin.with_suffix(".sass")))
