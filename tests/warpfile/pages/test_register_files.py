"""The page of the register file's contract has the groups of ports as the RTL has them."""

from __future__ import annotations

from dataclasses import fields
from xml.etree import ElementTree

import pytest

from warpfile.hdl.rf.contract import GROUPS, between_members, file_members
from warpfile.pages import register_files
from warpfile.schemes import SCHEMES, find
from warpfile.spec.contract import Asks, Gives


def column(file: str) -> dict[str, str]:
    """What the page's table says of every group of a register file."""
    at = register_files.COLUMNS.index(f"`{file}`")
    return {row[0]: row[at] for row in register_files.rows()}


def test_the_page_is_what_its_command_writes() -> None:
    assert not register_files.main(["--check"])


def test_a_group_without_its_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register_files, "SHOWN", register_files.SHOWN[:-1])
    assert register_files.main(["--check"])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_groups_are_all_ports_and_share_none(scheme: str) -> None:
    cfg = find(scheme).configuration(find(scheme).preset)
    names = [name for group in GROUPS if group.present(cfg) for name in group.members(cfg)]
    assert len(names) == len(set(names))
    assert set(names) == {*file_members(cfg)} >= {*between_members(cfg)}


def test_the_conditions_are_the_ones_of_the_page() -> None:
    described = register_files.PAGE.read_text()
    declared = {f"gives.{one.name}" for one in fields(Gives)} | {f"asks.{one.name}" for one in fields(Asks)}
    for name in {name for group in GROUPS for name in group.conditions} - declared:
        assert f"* `{name}`: " in described


def test_files_have_the_groups_that_their_schemes_need() -> None:
    assert column("pilot")["kernel"] == column("rfc")["near copies"] == column("shared")["absorbed loads"] == "yes"
    assert column("banked")["engines"] == column("packed")["evictions"] == column("shared")["lookahead"] == "some"
    assert column("banked")["kernel"] == column("ported")["look-ups"] == ""


def test_the_figure_has_an_arrow_per_group() -> None:
    picture = ElementTree.fromstring(register_files.figure())
    drawn = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert [group.name for group in register_files.SHOWN] == [
        text for text in drawn if text in {group.name for group in GROUPS}
    ]
    lines = list(picture.iter("{http://www.w3.org/2000/svg}line"))
    assert len(lines) == len(GROUPS)
    assert sum(line.get("stroke") == "#000000" for line in lines) == sum(not group.conditions for group in GROUPS)
