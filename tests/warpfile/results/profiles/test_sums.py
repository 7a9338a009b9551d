"""Sums over instructions are what the machine counts, on every scheme."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from tests.warpfile.results.profiles.conftest import profile_of
from warpfile.output.difference import Difference
from warpfile.results.profiles import Profile, operands
from warpfile.results.profiles.operands import Cycle, UnitOperands
from warpfile.schemes import SCHEMES

#: What is in no counter: the machine does not count results by beat.
_OWN = {"to_dispatch", "returned", "to_result"}


def checked(profile: Profile) -> set[str]:
    """Columns of which one more somewhere is a difference."""
    more = {name: [*counts[:-1], counts[-1] + 1] for name, counts in profile.counts.items()}
    return {
        name
        for name, counts in more.items()
        if dataclasses.replace(profile, counts={**profile.counts, name: counts}).differences()
    }


@pytest.mark.parametrize("preset", ["tiny", None])
@pytest.mark.parametrize("name", SCHEMES)
def test_every_column_sums_to_its_counter(name: str, preset: str | None) -> None:
    found = profile_of(name, "bitonic_sort", preset=preset)
    assert not found.differences()
    assert found.total("cycles") == found.run.cycles
    assert found.total("instructions") == found.run.instructions > 0
    assert checked(found) == found.counts.keys() - _OWN
    assert {"bank_reads", "bank_conflicts"} <= {*found.operands}
    assert found.of("issued", len(found.lines) - 1) == 0


@pytest.mark.parametrize(
    ("scheme", "column"),
    [
        ("bow", "bypassed_reads"),
        ("malekeh", "source_hits"),
        ("rfc", "cache_hits"),
        ("pilot", "fast_reads"),
        ("corf", "coalesced"),
        ("modern", "rfc_hits"),
        ("baseline", "bank_conflicts"),
    ],
)
def test_operands_have_their_origin(scheme: str, column: str) -> None:
    found = profile_of(scheme, "bitonic_sort")
    some = [line for line in found.lines[:-1] if found.of(column, found.lines.index(line))]
    assert some and not any(line.text.startswith(("BAR", "EXIT", "S2R")) for line in some)


@pytest.mark.parametrize("name", ["baseline", "bow", "malekeh"])
def test_cycles_to_dispatch_are_those_in_the_units(name: str) -> None:
    found = profile_of(name, "warp_reduce")
    assert found.total("to_dispatch") == found.run.counters["unit_cycles"]


@pytest.mark.parametrize("name", ["bow+packed", "baseline+two_level", "bow_wr+packed", "larf+las"])
def test_other_parts_are_charged_as_well(name: str) -> None:
    assert not profile_of(name, "bitonic_sort", preset=None).differences()


@pytest.mark.parametrize(
    "changes", [("retake=same", "collect=all"), ("pending_entries=1",), ("write_back_ports=1", "bank_cycles=2")]
)
def test_other_machines_are_charged_as_well(changes: tuple[str, ...]) -> None:
    found = profile_of("baseline", "bitonic_sort", *changes)
    assert not found.differences()
    assert (found.total("wait_entry") > 0) == ("pending_entries=1" in changes)


def test_what_a_pass_inserts_has_its_own_lines() -> None:
    found = profile_of("ltrf", "bitonic_sort")
    inserted = [number for number, line in enumerate(found.lines) if line.inserted]
    assert inserted and all(found.lines[number].place.endswith("+") for number in inserted)
    assert sum(found.of("issued", number) for number in inserted) > 0
    assert not any(found.of("instructions", number) for number in inserted)


def test_an_access_that_is_not_charged_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Losing(UnitOperands):
        def note(self, fields: Mapping[str, int], cycle: Cycle) -> None:
            super().note({**fields, "grant": 0} if fields["grant"] and self.loses() else fields, cycle)

        def loses(self, lost: list[Any] = []) -> bool:  # noqa: B006  # once
            lost.append(1)
            return len(lost) == 1

    monkeypatch.setattr(operands, "UnitOperands", Losing)
    with pytest.raises(Difference, match=r"bank_reads must be bank_reads, .*, but sums to"):
        profile_of("baseline", "bitonic_sort")


def test_unknown_collectors_have_no_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operands, "operands_of", lambda *_: operands.NoOperands())
    monkeypatch.setattr("warpfile.results.profiles.profiling.operands_of", operands.operands_of)
    found = profile_of("baseline", "warp_reduce")
    assert found.operands == () and not found.differences()
