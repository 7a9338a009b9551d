"""The page says of every output what it depends on in the same cycle."""

from __future__ import annotations

import pytest

from warpfile.pages.cycle import BEFORE, BEHIND, dependencies, page, rows
from warpfile.pages.integration import PAGE
from warpfile.schemes import SCHEMES

#: The others in the long regression.
SOON = ("baseline", "bow")
FEW = {
    "one": {"a": frozenset({"s__0__payload", "s__0__valid"}), "b__0": frozenset[str](), "b__1": frozenset[str]()},
    "two": {"a": frozenset({"x", "s__1__valid"}), "b__0": frozenset({"x"}), "b__1": frozenset[str]()},
}


def column(text: str, scheme: str) -> dict[str, str]:
    """Of every output that a scheme has its cell in a table."""
    head, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines())
    at = head.index(f"`{scheme}`")
    return {output: line[at] for line in lines if line[at] for output in line[0].split(", ")}


@pytest.mark.check
@pytest.mark.parametrize(
    "scheme", [pytest.param(name, marks=() if name in SOON else pytest.mark.regress) for name in SCHEMES]
)
def test_the_table_of_the_page_is_that_of_the_netlist(scheme: str) -> None:
    shown = column(PAGE.read_text().partition(BEFORE)[2].partition(BEHIND)[0], scheme)
    found = dependencies(SCHEMES[scheme])
    measured = column(rows({scheme: found}), scheme)
    assert len(found) > 15 and unfolded(shown) == unfolded(measured)


def unfolded(cells: dict[str, str]) -> dict[str, str]:
    """With a number for every N."""
    return {name.replace("__N", f"__{k}"): cell for name, cell in cells.items() for k in range(3)}


def test_outputs_with_the_same_inputs_share_a_row() -> None:
    assert rows(FEW).splitlines()[2:] == [
        "| `a` | `s__0` | `s__1`, `x` |",
        "| `b__0` | - | `x` |",
        "| `b__1` | - | - |",
    ]
    assert column(rows(FEW), "two") == {"`a`": "`s__1`, `x`", "`b__0`": "`x`", "`b__1`": "-"}


def test_an_output_that_only_one_scheme_has_is_a_row_too() -> None:
    found = {"one": FEW["one"], "other": {**FEW["two"], "c": frozenset({"x"})}}
    assert "| `c` |  | `x` |" in rows(found).splitlines()
    assert "`c`" not in column(rows(found), "one") and column(rows(found), "other")["`c`"] == "`x`"


def test_a_page_that_says_something_else_becomes_right() -> None:
    text = f"before\n{BEFORE}old table\n{BEHIND}behind\n"
    assert page(text, FEW) == f"before\n{BEFORE}{rows(FEW)}{BEHIND}behind\n"
    with pytest.raises(ValueError, match="must have the lines"):
        page("before", FEW)
