"""What a machine has other than its baseline, and what the matched baseline has of it (docs/study.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from warpfile.results.designs import Design, design
from warpfile.schemes import SCHEMES, Scheme, find
from warpfile.schemes.matching import matching
from warpfile.spec.config import Config, number_field
from warpfile.spec.presets import PRESETS

DOCS = Path(__file__).parents[2] / "docs" / "schemes"
TICKED = re.compile(r"`(\w+)`")


def at(name: str, preset: str | None = None, *changes: str) -> Design:
    return design(find(name), preset, changes)


def every() -> list[Design]:
    """All schemes at all presets that take them."""
    found = []
    for name in SCHEMES:
        for preset in PRESETS:
            try:
                found.append(at(name, preset))
            except ValueError:
                continue
    return found


def test_windows_are_matched_by_as_many_units_with_the_same_arbiters() -> None:
    bow = at("bow", "turing")
    assert bow.matching.differs["collectors"] == (8, 2)
    assert bow.matching.differs.keys() == {"collectors", "collect", "bank_arbitration", "dispatch_arbitration"}
    assert bow.matched.config == at("baseline", "turing").config.replace(
        collectors=8, collect="lowest", bank_arbitration="round_robin", dispatch_arbitration="round_robin"
    )


def test_a_field_that_the_scheme_defines_is_named_and_left_as_it_is() -> None:
    rfc = at("rfc", "turing")
    assert rfc.matching.own == ("scheduler",) and rfc.matching.given == {"source_slots": 3}
    assert rfc.matched.config == at("baseline", "turing").config.replace(source_slots=3)
    assert str(rfc.matching) == ("source_slots 3 (baseline 8); of the scheme: scheduler two_level (baseline gto)")


def test_a_scheme_that_does_not_define_its_scheduler_is_matched_by_a_baseline_under_it() -> None:
    assert at("ltrf", "turing").matched.config.scheduler == "two_level"


def test_a_field_that_stands_for_another_one_counts_as_that() -> None:
    half, whole = at("modern", "turing_rfc"), at("modern", "turing_rfc", "unit_interval=1")
    assert half.config.alu_interval == whole.config.alu_interval == 1
    assert not {"alu_interval", "fma_interval"} & half.matching.differs.keys()
    assert whole.matching.differs["alu_interval"] == (1, 2) and whole.matched.config.fma_interval == 1


def test_changes_that_concern_both_machines_are_no_difference() -> None:
    changed = at("bow", "pascal", "banks=4", "rows=128", "window=2")
    assert not changed.matching.differs and not str(changed.matching)
    assert changed.matched == changed.baseline and changed.baseline.config.banks == 4


@pytest.mark.parametrize("one", every(), ids=lambda one: f"{one.scheme.name}-{one.preset}")
def test_a_matched_baseline_differs_in_what_the_scheme_defines_and_in_nothing_else(one: Design) -> None:
    ours = {**one.config.common().to_json(), **one.config.stands_for}
    theirs = one.matched.config.to_json()
    left = {name for name in theirs if ours[name] != theirs[name]}
    assert left == {*one.matching.own} <= one.scheme.defines and not one.matching.refused
    assert one.matched.scheme == one.baseline.scheme


def test_the_baseline_differs_in_nothing_from_itself() -> None:
    for preset in PRESETS:
        assert not at("baseline", preset).matching.differs


@dataclass(frozen=True, kw_only=True)
class WideConfig(Config):
    """A scheme that stands for more units than a baseline can have."""

    places: int = number_field(1, 99, "places", 64)

    @property
    def stands_for(self) -> Mapping[str, object]:
        return {"collectors": self.places, "buffer_depth": 3}


def test_a_value_that_a_baseline_refuses_is_left_out_and_named() -> None:
    base, cfg = Config(), WideConfig()
    scheme: Scheme = replace(find("baseline"), name="wide")
    found = matching(scheme, cfg, base, lambda changes: base.replace(**changes))
    assert found.given == {"buffer_depth": 3} and "must be a number from 1 to 32, not 64" in found.refused["collectors"]
    assert "refused by a baseline: collectors 64 (baseline 4)" in str(found)
    assert found.to_json()["collectors"]["matched"] == found.refused["collectors"]  # type: ignore[index]
    possible = matching(scheme, WideConfig(places=32), base, lambda changes: base.replace(**changes))
    assert possible.given == {"collectors": 32, "buffer_depth": 3} and not possible.refused


def test_what_a_scheme_defines_are_fields_that_a_baseline_has() -> None:
    known = {spec.name for spec in fields(Config)}
    assert all(scheme.defines <= known for scheme in SCHEMES.values())
    assert any(scheme.defines for scheme in SCHEMES.values())


@pytest.mark.parametrize("name", SCHEMES)
def test_the_page_of_a_scheme_says_which_fields_it_defines(name: str) -> None:
    page = next(path for path in (DOCS / f"{name}.md", DOCS / f"{name.partition('_')[0]}.md") if path.is_file())
    text = " ".join(page.read_text().split())
    line = text[text.index("*Defines*") :].partition("): ")[2].partition(";")[0]
    assert set(TICKED.findall(line)) == SCHEMES[name].defines
    assert line.startswith("no field") is not bool(SCHEMES[name].defines)
