"""Corner cases of the caching units: how often a run meets each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.golden.collectors.malekeh.cycles import Cycle
from warpfile.golden.arbiter import indices
from warpfile.spec.schemes.malekeh import NEAR_DESTS
from warpfile.spec.trace import Kind

MOST = 63  #: the largest threshold


@dataclass
class History:
    """What a corner case asks of earlier cycles."""

    stolen: dict[int, set[int]] = field(default_factory=dict)  #: registers that a warp had when it lost its unit
    used_slots: set[int] = field(default_factory=set)  #: warp slots from which a warp exited
    second_hand: set[int] = field(default_factory=set)  #: those of them that have a new warp
    beats: int = 0  #: of this interval, up to the last cycle
    beats_before: int = 0

    def follow(self, c: Cycle) -> None:
        """Note a cycle that was counted."""
        self.beats += c.f["issue"]
        if c.f["interval_end"]:
            self.beats_before, self.beats = self.beats, 0
        if c.f["exit"]:
            self.used_slots.add(c.f["issue_warp"])
            self.second_hand.discard(c.f["issue_warp"])
            self.stolen.pop(c.f["issue_warp"], None)
        if c.launched in self.used_slots:
            self.second_hand.add(c.launched)
        if c.taken:
            self.stolen.pop(c.f["issue_warp"], None)
            old = c.before[c.unit]
            if old.owner not in (-1, c.f["issue_warp"]):
                self.stolen[old.owner] = set(old.kept)


def _meetings(c: Cycle) -> Iterable[tuple[list[bool], list[bool]]]:
    """Near bits of the results that meet in one unit, and whether the unit has their registers."""
    for view in c.before:
        mine = [port for port, result in c.results.items() if result.warp == view.owner]
        if len(mine) > 1:
            yield [c.near(port) for port in mine], [c.results[port].register in view.kept for port in mine]


def _kept(c: Cycle, port: int) -> bool:
    unit = c.owned(c.results[port].warp)
    return unit >= 0 and c.results[port].register in c.before[unit].kept


def _met_entry(c: Cycle) -> int:
    """The entry of the register of a result that meets a beat, -1 if its unit does not have it."""
    registers = [c.results[port].register for port in indices(c.f["met"])]
    return next((entry for entry in c.before[c.unit].used if c.before[c.unit].registers[entry] in registers), -1)


def _would_have_taken(c: Cycle) -> int:
    """The entry that a result would have taken, did it not meet a beat of its own warp, -1 for none."""
    full = any(c.results[port].full for port in indices(c.f["met"]))
    if not (full and c.f["take_own"] and _met_entry(c) < 0):
        return -1
    return c.before[c.unit].replaceable()[0]


def _saved_hit(c: Cycle) -> bool:
    entry = _would_have_taken(c)
    return bool(c.taken) and entry >= 0 and c.before[c.unit].registers[entry] in c.taken.sources


def _saved_victim(c: Cycle) -> bool:
    entry = _would_have_taken(c)
    return entry >= 0 and c.before[c.unit].registers[entry] != c.after[c.unit].registers[entry]


def _saved_far(c: Cycle) -> bool:
    entry = _would_have_taken(c)
    return entry >= 0 and c.before[c.unit].kind(entry) == "far" and not c.f["miss_far"]


def _stale_and_taken(c: Cycle, own: bool) -> bool:
    entry = _met_entry(c) if c.f["take_own"] == own else -1
    return entry >= 0 and c.after[c.unit].locked[entry]


def _emptied_beside(c: Cycle) -> bool:
    """The beat's unit has an entry that is empty too late for its misses."""
    emptied = c.f["invalidate"] >> c.unit * c.cfg.unit_entries if c.f["take_own"] else 0
    late = [entry for entry in c.before[c.unit].used if emptied >> entry & 1 and c.after[c.unit].registers[entry] < 0]
    return bool(late) and bool(c.f["miss_far"] | c.f["miss_near"])


def _enters_beside_its_beat(c: Cycle) -> bool:
    entered = [c.results[port].warp for port in indices(c.f["cache"])]
    return bool(c.f["issue"]) and not c.taken and c.f["issue_warp"] in entered


def _crowded_by_the_leaving(c: Cycle) -> bool:
    leaving = [c.f[f"dispatch_unit{port}"] for port in indices(c.f["dispatch"])]
    return any(c.owned(c.results[port].warp) in leaving for port in indices(c.f["crowded"]))


def _taken_and_written(c: Cycle) -> bool:
    written = [result.register for port, result in c.results.items() if c.f["far"] >> port & 1]
    return any(c.before[unit].registers[entry] in written for unit, entry in c.entered()) and not c.f["invalidate"]


def _wrapped(c: Cycle) -> bool:
    start = {unit: view.lfsr % c.cfg.unit_entries for unit, view in enumerate(c.before)}
    return any(c.before[unit].kind(entry) == "far" and entry < start[unit] for unit, entry in c.entered())


def _empty_own(c: Cycle) -> bool:
    others = any(not view.used and not view.busy for unit, view in enumerate(c.before) if unit != c.unit)
    return bool(c.f["take_own"]) and not c.before[c.unit].used and others


def _made_empty(c: Cycle) -> bool:
    entries = c.cfg.unit_entries
    made = (c.f["invalidate"] >> unit * entries & (1 << entries) - 1 for unit in range(c.cfg.collectors))
    return any(mask and view.owner >= 0 and not view.used for mask, view in zip(made, c.after, strict=True))


def _two_banks(c: Cycle) -> bool:
    asked = [{bank for (unit, _), bank in c.banks.items() if unit == one} for one in range(c.cfg.collectors)]
    return any(len(banks) > 1 for banks in asked)


def _pending_exit(c: Cycle) -> bool:
    waiting = [warp for warp, beat in c.heads.items() if beat.kind == Kind.EXIT and not c.f["clear"] >> warp & 1]
    return any(c.owned(warp) < 0 or not c.before[c.owned(warp)].busy for warp in waiting)


def _near_dest_is_source(c: Cycle) -> bool:
    beat = c.taken
    dests = range(beat.dest, beat.dest + beat.dest_count) if beat else ()
    return any(beat.hints >> k & 1 and register in beat.sources for k, register in enumerate(dests))  # type: ignore[union-attr]


def _mixed_pair(c: Cycle) -> bool:
    beat = c.taken
    if not beat or beat.dest_count < 2:
        return False
    return 0 < beat.hints & (1 << beat.dest_count) - 1 < (1 << beat.dest_count) - 1


def _mixed_sources(c: Cycle) -> bool:
    near = c.taken.hints >> NEAR_DESTS & (1 << len(c.taken.sources)) - 1 if c.taken else 0
    return bool(c.taken) and 0 < near < (1 << len(c.taken.sources)) - 1


def _idle(c: Cycle, h: History, beats: bool) -> bool:
    return bool(c.f["interval_end"]) and h.beats_before == 0 and bool(h.beats + c.f["issue"]) == beats


#: Corner cases by their sentence.
CORNERS: dict[str, Callable[[Cycle, History], bool]] = {
    "a near result meets a beat of its warp": lambda c, h: bool(c.f["met"] and c.f["take_own"]),
    "a near result meets the beat that takes its unit away": lambda c, h: bool(c.f["met"] and not c.f["take_own"]),
    "the entry of a result that meets a beat becomes empty": lambda c, h: (
        _met_entry(c) >= 0 and c.after[c.unit].registers[_met_entry(c)] < 0
    ),
    "a miss takes the entry of a result that it meets": lambda c, h: _stale_and_taken(c, own=True),
    "a new owner's source takes the entry of a result that it meets": lambda c, h: _stale_and_taken(c, own=False),
    "a miss replaces another register while an entry becomes empty": lambda c, h: _emptied_beside(c),
    "a result that meets a beat would have taken what it reads": lambda c, h: _saved_hit(c),
    "a result that meets a beat would have taken the entry of a miss": lambda c, h: _saved_victim(c),
    "a result that meets a beat would have replaced a far register, no miss does": lambda c, h: _saved_far(c),
    "a partial result meets a beat": lambda c, h: any(not c.results[port].full for port in indices(c.f["met"])),
    "two near results meet a beat": lambda c, h: any(
        c.f["met"] and c.owned(c.results[port].warp) == c.unit for port in indices(c.f["outdone"])
    ),
    "a lost register becomes stale in that cycle": lambda c, h: bool(c.f["lost"] & c.f["invalidate"]),
    "a result enters one unit while another one takes a beat": lambda c, h: bool(c.f["cache"] and c.f["allocate"]),
    "a result enters a unit that an offer waits for": lambda c, h: bool(c.f["cache"] and c.f["refuse_wait"]),
    "a result enters beside a beat of its warp that needs no unit": lambda c, h: _enters_beside_its_beat(c),
    "a result finds all entries locked in the cycle of their dispatch": lambda c, h: _crowded_by_the_leaving(c),
    "a result takes the entry that another one makes stale": lambda c, h: _taken_and_written(c),
    "the search for a far entry wraps": lambda c, h: _wrapped(c),
    "an owner keeps its empty unit beside another empty one": lambda c, h: _empty_own(c),
    "a unit becomes empty because all it has is stale": lambda c, h: _made_empty(c),
    "a beat without sources takes a unit": lambda c, h: bool(c.taken) and not c.taken.sources,
    "the threshold falls below the wait count": lambda c, h: (
        c.following["threshold"] < c.f["threshold"] and c.f["wait_count"] > c.following["threshold"]
    ),
    "two banks are asked by one unit": lambda c, h: _two_banks(c),
    "an EXIT waits for a result": lambda c, h: _pending_exit(c),
    "an instruction names a source twice": lambda c, h: (
        bool(c.taken) and c.static is not None and len(set(c.static.sources)) < len(c.static.sources)
    ),
    "a near destination is also a source": lambda c, h: _near_dest_is_source(c),
    "a result enters the only entry that is not locked": lambda c, h: any(
        len(c.before[unit].replaceable()) == 1 for unit, _ in c.entered()
    ),
    "a result finds all entries locked": lambda c, h: bool(c.f["crowded"]),
    "near and far meet in a unit": lambda c, h: any(len(set(near)) > 1 for near, _ in _meetings(c)),
    "near and near meet in a unit": lambda c, h: bool(c.f["outdone"]),
    "two results meet in a unit that has both": lambda c, h: any(sum(kept) > 1 for _, kept in _meetings(c)),
    "a result comes after its warp lost its unit": lambda c, h: any(
        c.results[port].warp in h.stolen for port in indices(c.f["unowned"])
    ),
    "a far result makes an entry stale": lambda c, h: any(_kept(c, port) for port in indices(c.f["far"])),
    "a partial result is merged": lambda c, h: any(not c.results[port].full for port in indices(c.f["cache_hit"])),
    "a partial result is not cached": lambda c, h: bool(c.f["partial"]),
    "a partial far result makes an entry stale": lambda c, h: any(
        _kept(c, port) and not c.results[port].full for port in indices(c.f["far"])
    ),
    "a result enters beside a waiting beat": lambda c, h: any(c.before[unit].busy for unit, _ in c.entered()),
    "all units are busy": lambda c, h: bool(c.f["refuse_busy"]),
    "an offer waits with threshold 0": lambda c, h: bool(c.f["refuse_wait"]) and c.f["threshold"] == 0,
    "near registers are taken away with threshold 0": lambda c, h: bool(c.f["take_near"]) and c.f["threshold"] == 0,
    "an offer waits with threshold 63": lambda c, h: bool(c.f["refuse_wait"]) and c.f["threshold"] == MOST,
    "near registers are taken away with threshold 63": lambda c, h: bool(c.f["take_near"]) and c.f["threshold"] == MOST,
    "an owner issues while the wait count stands": lambda c, h: bool(c.f["take_own"]) and c.f["wait_count"] > 0,
    "a unit belongs to the second warp of a slot": lambda c, h: bool(c.taken) and c.f["issue_warp"] in h.second_hand,
    "a warp gets a unit again and misses what it had": lambda c, h: (
        bool(c.taken) and bool(h.stolen.get(c.f["issue_warp"], set()) & set(c.taken.sources))
    ),
    "an EXIT empties a unit": lambda c, h: (
        bool(c.f["exit"]) and any(view.owner == c.f["issue_warp"] and view.used for view in c.before)
    ),
    "a miss replaces a near register": lambda c, h: bool(c.f["miss_near"]),
    "misses replace far and near registers": lambda c, h: bool(c.f["miss_far"] and c.f["miss_near"]),
    "misses take empty and far entries": lambda c, h: bool(c.f["miss_empty"] and c.f["miss_far"]),
    "one component of a wide result is near": lambda c, h: _mixed_pair(c),
    "some sources of a beat are near": lambda c, h: _mixed_sources(c),
    "two units dispatch in one cycle": lambda c, h: c.f["dispatch"].bit_count() > 1,
    "a beat issues in the last cycle of an interval": lambda c, h: bool(c.f["interval_end"] and c.f["issue"]),
    "an interval without beats follows another": lambda c, h: _idle(c, h, False),
    "an interval with beats follows one without": lambda c, h: _idle(c, h, True),
    "the threshold stops at 63": lambda c, h: (
        bool(c.f["interval_end"]) and c.following["threshold"] == MOST != c.f["threshold"]
    ),
    "a flat curve ends at 63": lambda c, h: (
        (c.f["threshold_state"], c.following["threshold_state"], c.f["threshold"]) == (2, 6, MOST)
    ),
    "a steep curve ends at 0": lambda c, h: (
        (c.f["threshold_state"], c.following["threshold_state"], c.f["threshold"]) == (4, 6, 0)
    ),
}


def count_corners(cycles: Iterable[Cycle]) -> Counter[str]:
    """Cycles of a run in which each corner case happened."""
    counts, history = Counter(dict.fromkeys(CORNERS, 0)), History()
    for cycle in cycles:
        counts.update(name for name, happened in CORNERS.items() if happened(cycle, history))
        history.follow(cycle)
    return counts
