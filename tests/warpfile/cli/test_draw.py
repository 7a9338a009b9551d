"""``warpfile draw``: the block diagram of a scheme."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.warpfile.cli.test_errors import refused
from tests.warpfile.conftest import Invoke
from warpfile import tools
from warpfile.verilog import drawing


def boxes(text: str) -> dict[str, tuple[str, str]]:
    """Label and colour by place."""
    return {
        place: (label, colour)
        for place, label, colour in re.findall(r'"([^"]+)" \[label="([^"]*)", fillcolor="([^"]*)"', text)
    }


def test_parts_of_the_scheme_are_orange_and_those_of_the_baseline_are_not(invoke: Invoke) -> None:
    assert invoke("draw", "bow", "--preset", "tiny", "--no-area", "-o", "bow.dot").exit_code == 0
    found = boxes(Path("bow.dot").read_text())
    own = {place.rpartition("/")[2] for place, (_, colour) in found.items() if colour in drawing.ADDED}
    assert own == {"window", "window_lane", "dispatch_lane"}
    assert invoke("draw", "baseline", "--preset", "tiny", "--no-area", "-o", "baseline.dot").exit_code == 0
    found = boxes(Path("baseline.dot").read_text())
    assert found and not {colour for _, colour in found.values()} & {*drawing.ADDED}


def test_boxes_say_how_many_and_what_they_hold(invoke: Invoke) -> None:
    assert invoke("draw", "baseline", "--preset", "tiny", "--set", "warps=6", "--no-area", "-o", "b.dot").exit_code == 0
    found = boxes(Path("b.dot").read_text())
    assert found["warpfile.frame/instruction_buffer"][0].startswith("instruction_buffer \u00d7 6\\n")
    assert "KiB of SRAM" in found["warpfile.register_file/warpfile.register_file.banks"][0]
    assert "NAND2" not in "".join(label for label, _ in found.values())


def test_gates_are_those_of_the_area_report(invoke: Invoke) -> None:
    assert invoke("draw", "baseline", "--preset", "tiny", "-o", "b.dot").exit_code == 0
    assert invoke("area", "baseline", "--preset", "tiny", "--json", "area.json").exit_code == 0
    modules = json.loads(Path("area.json").read_text())["schemes"]["baseline"]["modules"]
    (barrier,) = [one["nand2_equivalents"] for one in modules if one["name"] == "warpfile.frame.barrier"]
    label = boxes(Path("b.dot").read_text())["warpfile.frame/warpfile.frame.barrier"][0]
    assert label.startswith(f"barrier\\n{barrier:,.0f} NAND2 equivalents\\n")


def test_without_graphviz_the_text_is_advised(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda name: None)
    refused(invoke("draw", "baseline", "--preset", "tiny"), "graphviz", "-o baseline.dot")


def test_another_kind_of_file_is_refused(invoke: Invoke) -> None:
    refused(invoke("draw", "baseline", "-o", "baseline.png"), "--output", ".svg or .dot", "baseline.png")


@pytest.mark.needs("dot")
def test_a_picture_is_drawn_where_dot_is_there(invoke: Invoke) -> None:
    result = invoke("draw", "baseline", "--preset", "tiny", "--no-area")
    assert result.exit_code == 0 and result.stdout == "baseline.svg\n"
    assert "scheduler" in "".join(ElementTree.parse("baseline.svg").getroot().itertext())
