"""Corner cases of the register cache and its scheduler: how often a run meets each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from tests.golden.machines import Rfc
from tests.golden.rf.rfc.invariants import RfcWatcher
from tests.golden.rf.rfc.moment import Moment
from tests.golden.rf.rfc.scenario import DEAD, rfc_layout
from tests.golden.scheduler.two_level.invariants import is_marked, loads
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig
from warpfile.spec.trace import LANES, Kind, Trace
from warpfile.spec.workload import prepare

FULL = (1 << LANES) - 1
BYPASSES = ("bypass_hint", "bypass_partial", "bypass_full")


def _names_twice(m: Moment) -> bool:
    if m.issued is None:
        return False
    sources = m.trace.program[int(m.trace.instruction[m.issued.record])].sources
    return max((sources.count(register) for register in sources), default=0) > 2


def _overwrites_source(m: Moment, load: bool, whole: bool) -> bool:
    beat = m.issued
    if beat is None or not beat.mask or loads(beat) != load or beat.full != whole:
        return False
    return bool({*range(beat.dest, beat.dest + beat.dest_count)} & {*beat.sources})


def _one_bank(m: Moment) -> bool:
    if m.checked is None:
        return False
    warp, beat = m.checked
    banks = Counter(m.home((warp, beat.sources[slot]))[0] for slot in indices(m.f["miss"]))
    return max(banks.values(), default=0) > 1


def _evicted_in_its_check(m: Moment) -> bool:
    if m.checked is None:
        return False
    warp, beat = m.checked
    names = {(warp, beat.sources[slot]) for slot in indices(m.f["miss"])}
    return bool(names & set(m.lines.values()))


def _dead_hint(m: Moment, converged: bool) -> Iterator[tuple[Beat, int]]:
    for beat, slot, line in m.reads():
        if beat.hints >> DEAD + slot & 1 and beat.converged == converged:
            yield beat, line


def _behind_eviction(m: Moment) -> bool:
    homes = {m.home((r.warp, r.register)) for r in m.accepted("bypass_partial")}
    return any(row in m.watcher.waiting.get(bank, ()) for bank, row in homes)


def _suspended_with_its_value(m: Moment) -> bool:
    return m.cfg.suspend == "always" and any(not m.watcher.is_stuck(warp) for warp in m.places("suspend_long").values())


def _opens(m: Moment) -> set[int]:
    """Warps whose barrier opens in this cycle."""
    waiting, ctas = m.f["waiting"], m.watcher.cta
    shut = {cta for warp, cta in ctas.items() if not waiting >> warp & 1}
    return {warp for warp in indices(waiting) if ctas.get(warp) not in shut}


def _more_warps_than_places(m: Moment) -> bool:
    return any(
        sum(cta == m.watcher.cta.get(warp) for cta in m.watcher.cta.values()) > m.cfg.active_warps for warp in _opens(m)
    )


def _overtaken_by_short(m: Moment) -> bool:
    """A load finds that the short result of its cycle has just taken the line of its register."""
    return any(m.line_of(r) >= 0 for r in m.accepted("long") if not m.f["long_drop"])


def _waits_for_port(m: Moment) -> bool:
    """A victim finds no read port."""
    if sum(1 for _ in m.reads()) < READ_PORTS:
        return False
    return any(r.full and not m.is_long(r) and m.line_of(r) < 0 for r in m.held_back())


def _waits_for_queue(m: Moment) -> bool:
    return any(m.home((r.warp, r.register))[0] in m.full_queues() for r in m.held_back())


def _long_waits_for_write_port(m: Moment) -> bool:
    return bool(m.f["cache_write"]) and any(m.is_long(r) and not r.full and m.line_of(r) >= 0 for r in m.held_back())


def _flush_waits(m: Moment) -> bool:
    own = sum(m.watcher.own(place) for place in indices(m.f["releasing"]))
    return not m.f["flush"] and bool(m.f["held"] & own & ~m.f["dead"])


def _arrives_in(m: Moment, probe: str) -> bool:
    return any(r.warp in m.places(probe).values() for r in m.accepted("long", "long_merge"))


def _needs_nothing(m: Moment) -> bool:
    """A marked beat issues although a load of its warp is under way."""
    beat, warp = m.issued, m.f["issue_warp"]
    return beat is not None and is_marked(m.cfg, beat) and any(w == warp for w, _ in m.watcher.long)


def _exit(m: Moment, kind: Kind) -> bool:
    beat = m.issued
    if beat is None or not m.trace.program[int(m.trace.instruction[beat.record])].opcode.startswith("EXIT"):
        return False
    return beat.kind == kind and bool(beat.mask)


def _mates_end(m: Moment) -> bool:
    """A barrier opens because the last warp that did not wait has ended."""
    return bool(_opens(m)) and bool(m.watcher.before.get("exit"))


CORNERS: dict[str, Callable[[Moment], object]] = {
    "an instruction names a register three times": _names_twice,
    "an instruction writes what it reads": lambda m: _overwrites_source(m, load=False, whole=True),
    "a load writes its address": lambda m: _overwrites_source(m, load=True, whole=True),
    "a load of some lanes writes its address": lambda m: _overwrites_source(m, load=True, whole=False),
    "all sources of a full beat are hits": lambda m: m.f["hit"].bit_count() == m.cfg.source_slots > 1,
    "all sources of a full beat are misses": lambda m: m.f["miss"].bit_count() == m.cfg.source_slots > 1,
    "two misses of a beat are in one bank": _one_bank,
    "a register leaves its line in the cycle of its check": _evicted_in_its_check,
    "a read waits for the queue": lambda m: m.f["interlock"],
    "some lanes are written in place": lambda m: any(not r.full for r in m.accepted("cache_write_hit")),
    "some lanes are queued": lambda m: m.f["bypass_partial"],
    "some lanes are queued behind the rest of their register": _behind_eviction,
    "a load makes a line void": lambda m: m.f["long_drop"],
    "a load of some lanes is written to a line": lambda m: m.f["long_merge"],
    "a load comes for the line that a victim has just left": _overtaken_by_short,
    "a dead bit is ignored because lanes are missing": lambda m: any(_dead_hint(m, False)),
    "a dead bit is honoured after lanes have exited": lambda m: any(
        int(m.trace.live[beat.record]) != FULL for beat, _ in _dead_hint(m, True)
    ),
    "a dead register is written and lives": lambda m: any(
        m.f["dead"] >> m.line_of(r) & 1 for r in m.accepted("cache_write_hit")
    ),
    "a dead victim is dropped": lambda m: m.f["evict_dead"],
    "a line is pinned by two units": lambda m: any(m.sharers(line) > 1 for line in indices(m.f["pinned"])),
    "all lines are pinned": lambda m: m.cfg.cache_entries and m.f["bypass_full"],
    "a wide result enters": lambda m: any(r.component for r in m.accepted("cache_write")),
    "short and long results meet": lambda m: m.f["long"] and m.accepted("cache_write", *BYPASSES),
    "a result waits for a full queue": _waits_for_queue,
    "a victim waits for a read port": _waits_for_port,
    "a load waits for the write port": _long_waits_for_write_port,
    "a warp that ends drops its lines": lambda m: m.f["drop"],
    "some lanes end": lambda m: _exit(m, Kind.BRANCH),
    "a beat is being collected when its warp suspends": lambda m: any(
        warp == holder for warp in m.places("suspend_long").values() for holder, _ in m.units.values()
    ),
    "a warp suspends with its value back": _suspended_with_its_value,
    "a marked beat waits for none of its loads": _needs_nothing,
    "the last to arrive at a barrier stays": lambda m: any(
        warp in _opens(m) and not m.f["draining"] >> place & 1 for place, warp in m.places("placed").items()
    ),
    "an EXIT completes a barrier": _mates_end,
    "a barrier has more warps than there are places": _more_warps_than_places,
    "all lines of a released place are dead": lambda m: m.f["flush_dead"] and not m.f["flush"],
    "a flush waits": _flush_waits,
    "two places are released at once": lambda m: m.f["releasing"].bit_count() > 1,
    "two warps are ready at once": lambda m: m.f["ready"].bit_count() > 1,
    "a load arrives while its warp drains": lambda m: _arrives_in(m, "draining"),
    "a load arrives while its place is released": lambda m: _arrives_in(m, "releasing"),
    "one place with one line": lambda m: m.cfg.lines == 1 and m.f["evict"],
}


def count_corners(cfg: RfcConfig, trace: Trace, model: type[Rfc] = Rfc) -> Counter[str]:
    """Cycles of a run that meet each corner case."""
    layout, workload = rfc_layout(cfg), prepare(cfg, trace)
    environment, machine, watcher = Environment(cfg, workload, layout), model(cfg, layout), RfcWatcher(cfg, workload)
    found: Counter[str] = Counter()
    while not environment.done:
        stimulus = environment.stimulus()
        word = machine.step(stimulus)
        moment = Moment(watcher, stimulus, layout.unpack(word))
        found.update(name for name, is_met in CORNERS.items() if is_met(moment))
        watcher.check(stimulus, moment.f)
        environment.observe(word)
    return found
