"""Files of events: what viewers read of a run is what the machine counts."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from typing import Any

import pytest

from tests.warpfile.results.profiles.conftest import profile_of
from warpfile.results.profiles import Profile
from warpfile.results.profiles.events import ChromeTrace, KanataLog
from warpfile.results.profiles.in_flight import Flight


def chrome(scheme: str) -> tuple[Profile, list[dict[str, Any]]]:
    """A profile, and its slices."""
    stream = io.StringIO()
    found = profile_of(scheme, "bitonic_sort", listeners=[ChromeTrace(stream, "a <machine>")])
    document = json.loads(stream.getvalue())
    assert document["otherData"]["machine"] == "a <machine>"
    events = document["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X"]
    assert named == {(one["pid"], one["tid"]) for one in slices}
    return found, slices


def crossing(slices: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Slices of one thread of which neither is in the other, though they overlap: viewers cannot draw them."""
    wrong, threads = [], defaultdict(list)
    for one in slices:
        threads[one["pid"], one["tid"]].append(one)
    for some in threads.values():
        inside: list[dict[str, Any]] = []
        for one in sorted(some, key=lambda one: (one["ts"], -one["dur"])):
            while inside and inside[-1]["ts"] + inside[-1]["dur"] <= one["ts"]:
                inside.pop()
            if inside and one["ts"] + one["dur"] > inside[-1]["ts"] + inside[-1]["dur"]:
                wrong.append((inside[-1], one))
            inside.append(one)
    return wrong


@pytest.mark.parametrize("scheme", ["baseline", "bow", "larf", "modern", "rfc"])
def test_slices_are_the_states_and_beats_of_the_run(scheme: str) -> None:
    found, slices = chrome(scheme)
    counters = found.run.counters
    assert not crossing(slices)
    states = [one for one in slices if one["tid"] == 0]
    assert sum(one["dur"] for one in states) == counters["resident_cycles"]
    assert sum(one["name"] == "issued" for one in states) == counters["beats"]
    beats = [one for one in slices if one["tid"] and "args" in one]
    assert len(beats) == counters["beats"]
    collected = [one for one in slices if one["name"] == "collect"]
    assert sum(one["dur"] for one in collected) == found.total("to_dispatch")
    assert max(one["ts"] + one["dur"] for one in slices) <= found.run.cycles
    names = {one["name"] for one in slices}
    assert {"execute", "issued", "waits for a register from the LSU"} <= names or scheme == "modern"


def test_slices_that_cross_are_noticed() -> None:
    def one(first: int, length: int) -> dict[str, Any]:
        return {"pid": 1, "tid": 1, "ts": first, "dur": length}

    assert not crossing([one(0, 4), one(0, 2), one(2, 2), one(4, 1)])
    assert crossing([one(0, 4), one(2, 3)])


def kanata(text: str) -> tuple[list[dict[str, Any]], int]:
    """Beats of a Kanata log and its last cycle, by the description of the format; stages as (name, first cycle)."""
    head, *lines = text.splitlines()
    assert head == "Kanata\t0004"
    beats: list[dict[str, Any]] = []
    alive: set[int] = set()
    cycle = 0
    for line in lines:
        command, *fields = line.split("\t")
        if command in ("C=", "C"):
            assert (command == "C=") == (not beats) and int(fields[0]) > 0
            cycle += int(fields[0])
            continue
        number = int(fields[0])
        if command == "I":
            assert number == len(beats)
            alive.add(number)
            beats.append({"thread": int(fields[2]), "stages": []})
        assert number in alive
        if command == "L":
            beats[number]["text"] = fields[2]
        elif command == "S":
            beats[number]["stages"].append((fields[2], cycle))
        elif command == "R":
            beats[number]["end"] = cycle
            assert fields[2] == "0"
            alive.remove(number)
    assert not alive
    return beats, cycle


@pytest.mark.parametrize("scheme", ["baseline", "bow", "larf"])
def test_a_kanata_log_has_every_beat(scheme: str) -> None:
    stream = io.StringIO()
    found = profile_of(scheme, "bitonic_sort", listeners=[KanataLog(stream, "")])
    beats, last = kanata(stream.getvalue())
    assert len(beats) == found.run.counters["beats"] and last < found.run.cycles
    assert all(one["text"].partition(": ")[2] in {line.text for line in found.lines} for one in beats)
    stages = [dict(one["stages"]) for one in beats]
    assert all(list(one) == [name for name in "BCX" if name in one] and "B" in one for one in stages)
    through = [one for one in stages if "C" in one and "X" in one]
    assert sum(one["X"] - one["C"] for one in through) == found.total("to_dispatch")
    assert {one["thread"] for one in beats} == set(range(4))


def test_a_log_without_retirement_is_noticed() -> None:
    with pytest.raises(AssertionError):
        kanata("Kanata\t0004\nC=\t1\nI\t0\t0\t0\nL\t0\t0\t0000: NOP\nS\t0\t0\tB\n")


class Open:
    """Counts the beats under way."""

    def __init__(self) -> None:
        self.now = self.most = self.all = 0

    def decoded(self, cycle: int, flight: Flight) -> None:
        self.now += 1
        self.all += 1
        self.most = max(self.most, self.now)

    def ended(self, cycle: int, flight: Flight) -> None:
        self.now -= 1

    def nothing(self, *_: object) -> None:
        """Of other events."""

    begin = issued = dispatched = state = close = nothing


@pytest.mark.parametrize("scheme", ["baseline", "larf"])
def test_what_is_kept_does_not_grow_with_the_run(scheme: str) -> None:
    """Buffers, units and ports of five warps hold less than 12 beats each; one absorbed load stays per register."""
    seen = Open()
    found = profile_of(scheme, "unrolled_poly", listeners=[seen])
    assert found.run.counters.get("hits_perfect", 1) > 0
    assert seen.now == 0 and seen.all > 2000
    assert seen.most < 5 * 12
