"""Corner cases of the partitioned file: how often a run meets each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tests.golden.machines import Pilot
from tests.golden.rf.pilot.invariants import PilotWatcher
from tests.golden.rf.pilot.moving import MovingWatcher
from tests.golden.rf.pilot.scenario import pilot_layout
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Environment, Result, Stimulus
from warpfile.spec.schemes.pilot import PilotConfig, State
from warpfile.spec.trace import LANES, Trace
from warpfile.spec.workload import prepare

FULL = (1 << LANES) - 1


class Moment:
    """One cycle: its probes, the results on the ports, and what the watcher knew when it began."""

    def __init__(self, watcher: PilotWatcher, stimulus: Stimulus, f: dict[str, int]) -> None:
        self.watcher, self.f, self.cfg = watcher, f, watcher.own
        self.results = {port: result for port, result in enumerate(stimulus.results) if result is not None}
        self.step = watcher.cycle - watcher.since
        self.launches = stimulus.launch if f["launch"] else None
        self.launch_waits = stimulus.launch is not None and not f["launch"]

    @property
    def moves(self) -> bool:
        """A bank serves an access of MOVE."""
        return bool(self.f.get("move_grant"))

    @property
    def issued(self) -> Beat | None:
        return self.watcher.buffers[self.f["issue_warp"]][0] if self.f["issue"] else None

    @property
    def profiled(self) -> Beat | None:
        """The beat of the pilot that issues."""
        return self.issued if self.f["profiling"] and self.f["issue_warp"] == self.watcher.pilot else None

    def state(self, state: State, *steps: int) -> bool:
        """Whether it is one of these cycles of a state, or any; negative ones count from the end of REMAP."""
        found = {step % self.cfg.fast_registers if step < 0 else step for step in steps}
        return self.f["pilot_state"] == state and (not steps or self.step in found)

    def is_fast(self, warp: int, register: int) -> bool:
        return self.watcher.home(warp, register) < self.cfg.fast_registers

    def banks(self, unit: int) -> list[tuple[int, bool]]:
        """Bank and partition of every slot of a unit."""
        warp, beat = self.watcher.units[unit]
        return [(self.watcher.row_of(warp, register)[0], self.is_fast(warp, register)) for register in beat.sources]

    def stored(self) -> list[Result]:
        return [self.results[port] for port in indices(self.f["fast_write"] | self.f["slow_write"])]


def _three_in_one_bank(m: Moment) -> bool:
    for unit in m.watcher.units:
        if not m.watcher.granted[unit]:
            counts = Counter(bank for bank, _ in m.banks(unit))
            bank, most = max(counts.items(), key=lambda item: item[1], default=(0, 0))
            if most > 2 and len({fast for other, fast in m.banks(unit) if other == bank}) == 2:
                return True
    return False


def _arrive_together(m: Moment) -> bool:
    """Data of a slow and of a later fast read reach a unit in this cycle."""
    slots = m.cfg.source_slots
    arriving = [index for index, cycles in m.watcher.arriving.items() if m.watcher.cycle in cycles]
    if m.cfg.collect != "all":
        return False
    units = Counter(index // slots for index in arriving if index // slots in m.watcher.units)
    return any(
        count > 1 and len({m.banks(unit)[index % slots][1] for index in arriving if index // slots == unit}) == 2
        for unit, count in units.items()
    )


def _read_yields_to_write(m: Moment) -> bool:
    written = {m.watcher.row_of(result.warp, result.register)[0] for result in m.stored()}
    asked = set()
    for index in indices(m.f["request"] & ~m.f["grant"]):
        unit, slot = divmod(index, m.cfg.source_slots)
        asked.add(m.banks(unit)[slot][0])
    return bool(written & asked)


def _two_ports_one_bank(m: Moment) -> bool:
    """Two results want slow places of one bank."""
    banks = [
        m.watcher.row_of(result.warp, result.register)[0]
        for result in m.results.values()
        if result.writes and not m.is_fast(result.warp, result.register)
    ]
    return len(set(banks)) < len(banks)


def _switches_under_way(m: Moment) -> bool:
    """The mode changes behind this cycle while an access goes on."""
    if not m.f["epoch_end"]:
        return False
    following = m.f["epoch_issued"] + m.f["issue"] >= m.cfg.epoch_threshold
    return following != m.f["high_mode"] and any(last > m.watcher.cycle for last in m.watcher.busy.values())


def _issued_in_epoch(m: Moment, more: int) -> bool:
    enough = m.cfg.epoch_threshold
    return bool(m.f["epoch_end"] and enough and m.f["epoch_issued"] + m.f["issue"] == enough + more)


def _wide_in_both(m: Moment) -> bool:
    beat, warp = m.issued, m.f["issue_warp"]
    if beat is None or beat.dest_count < 2:
        return False
    return len({m.is_fast(warp, register) for register in range(beat.dest, beat.dest + beat.dest_count)}) == 2


def _hot_list(m: Moment, holds: Callable[[set[int], set[int]], bool]) -> bool:
    """Whether something is so of the list and the registers that are fast without one, in the first cycle of LOAD."""
    given = {*m.watcher.workload.kernel.descriptor.values()} - {m.cfg.marker}
    return m.state(State.LOAD, 0) and m.cfg.listed and holds(given, set(range(m.cfg.fast_registers)))


def _sorted_counts(m: Moment) -> list[int]:
    """Counts in the sorter, in the first cycle of RUN."""
    if not (m.state(State.RUN, 0) and m.cfg.piloted):
        return []
    known = range(min(m.watcher.registers, m.cfg.marker))
    return sorted((m.watcher.counts[register] for register in known), reverse=True)[: m.cfg.fast_registers]


def _names_twice(m: Moment) -> bool:
    beat = m.profiled
    if beat is None or not beat.mask:
        return False
    sources = m.watcher.workload.trace.program[int(m.watcher.workload.trace.instruction[beat.record])].sources
    return len(set(sources)) < len(sources)


def _missed(m: Moment) -> list[int]:
    """Registers of the list that the pilot has not accessed."""
    given = {*m.watcher.workload.kernel.descriptor.values()} - {m.cfg.marker}
    return sorted(register for register in given if not m.watcher.counts[register])


def _leaves_later(m: Moment) -> bool:
    """A slot's bank serves no request, though no access occupies it."""
    written = {m.watcher.row_of(result.warp, result.register)[0] for result in m.stored()}
    for index in indices(m.f["bank_busy"] if m.cfg.bank_occupancy == "one" else 0):
        unit, slot = divmod(index, m.cfg.source_slots)
        warp, beat = m.watcher.units[unit]
        bank, row = m.watcher.row_of(warp, beat.sources[slot])
        m.watcher.now = m.f
        if bank not in written and not m.watcher._is_free(bank, "read", m.watcher.length(row)):
            return True
    return False


CORNERS: dict[str, Callable[[Moment], object]] = {
    "all registers are fast": lambda m: m.watcher.registers <= m.cfg.fast_registers and m.f["launch"],
    "the slow part limits the warps": lambda m: (
        m.state(State.LOAD, 0) and m.cfg.resident_warps(m.watcher.registers) < m.cfg.warps
    ),
    "a list is that of the fast registers": lambda m: _hot_list(m, lambda given, fast: given == fast),
    "a list has some of the fast registers": lambda m: _hot_list(
        m, lambda given, fast: 0 < len(given & fast) < len(fast)
    ),
    "a list has none of the fast registers": lambda m: _hot_list(m, lambda given, fast: given and not given & fast),
    "a list has unused places": lambda m: _hot_list(m, lambda given, fast: len(given) < len(fast)),
    "the pilot is the only warp when it ends": lambda m: m.f["profiling"] and m.f["exit"] == m.f["resident"],
    "others run on when the pilot ends": lambda m: (
        m.f["profiling"] and m.f["exit"] == 1 << m.f["pilot_warp"] != m.f["resident"]
    ),
    "the pilot's slot has another warp in SORT": lambda m: (
        m.state(State.SORT) and m.launches is not None and m.launches.warp == m.watcher.pilot
    ),
    "a launch in the first cycle of REMAP": lambda m: m.state(State.REMAP, 0) and m.f["launch"],
    "a launch in the last cycle of REMAP": lambda m: m.state(State.REMAP, -1) and m.f["launch"],
    "a launch in the first cycle with the new map": lambda m: m.state(State.RUN, 0) and m.cfg.piloted and m.f["launch"],
    "both maps are in use": lambda m: 0 < m.f["versions"] & m.f["resident"] < m.f["resident"],
    "equal counts are sorted": lambda m: len(counts := _sorted_counts(m)) > len(set(counts)),
    "all counts are zero": lambda m: (counts := _sorted_counts(m)) and not any(counts),
    "fewer registers than places have a count": lambda m: (
        (counts := _sorted_counts(m)) and counts[0] and not counts[-1]
    ),
    "the pilot names a register twice": _names_twice,
    "a beat of the pilot has no lanes": lambda m: m.profiled and not m.profiled.mask and m.profiled.sources,
    "the pilot reads and writes one register": lambda m: (
        m.profiled
        and m.profiled.mask
        and {*m.profiled.sources} & {*range(m.profiled.dest, m.profiled.dest + m.profiled.dest_count)}
    ),
    "some lanes of a swapped register are written": lambda m: any(
        result.mask != FULL and m.watcher.home(result.warp, result.register) != result.register for result in m.stored()
    ),
    "three sources of both parts are in one bank": _three_in_one_bank,
    "slow and fast data reach a unit together": _arrive_together,
    "a read waits for a write of its bank": _read_yields_to_write,
    "two results want slow places of one bank": _two_ports_one_bank,
    "the mode changes while an access goes on": _switches_under_way,
    "an epoch with one issue too few": lambda m: _issued_in_epoch(m, -1),
    "an epoch with just enough issues": lambda m: _issued_in_epoch(m, 0),
    "an epoch with one issue more": lambda m: _issued_in_epoch(m, 1),
    "a wide result goes to both parts": _wide_in_both,
    "registers of a second warp move": lambda m: m.moves and m.f["resident"] & (1 << m.f["move_warp"]) - 1,
    "registers move in low mode": lambda m: m.moves and not m.f["high_mode"],
    "a slot without a warp is passed over": lambda m: (
        m.state(State.MOVE) and m.f["resident"] and not m.f["resident"] >> m.f["move_warp"] & 1
    ),
    "old pairs are undone": lambda m: m.moves and not m.f["current_version"],
    "new pairs are applied": lambda m: m.moves and m.f["current_version"],
    "the first access of MOVE waits for its bank": lambda m: (
        m.state(State.MOVE, 0) and m.f["resident"] & 1 and m.f["swap_table"] and not m.moves
    ),
    "DRAIN waits for a result": lambda m: m.state(State.DRAIN) and m.f["awaited"] and not m.f["request"],
    "DRAIN waits for a read": lambda m: m.state(State.DRAIN) and m.f["request"] and not m.f["awaited"],
    "a launch waits for the registers that move": lambda m: m.watcher.stands and m.launch_waits,
    "an epoch is broken by registers that move": lambda m: m.state(State.DRAIN, 0) and m.f["epoch_cycle"],
    "the list is kept": lambda m: m.f.get("list_kept"),
    "the pilot has missed the last register alone": lambda m: (
        m.f.get("list_kept") and _missed(m) == [min(m.watcher.registers, m.cfg.marker) - 1]
    ),
    "a read of a bank waits for rows that leave it": _leaves_later,
    "the run ends in SORT": lambda m: m.state(State.SORT) and not m.f["resident"],
    "the run ends in REMAP": lambda m: m.state(State.REMAP) and not m.f["resident"],
}


def count_corners(cfg: PilotConfig, trace: Trace, model: type[Pilot] = Pilot) -> Counter[str]:
    """Cycles of a run that meet each corner case."""
    layout, workload = pilot_layout(cfg), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watcher = (MovingWatcher if cfg.migrates else PilotWatcher)(cfg, workload, refuses=True)
    found: Counter[str] = Counter()
    while not environment.done:
        stimulus = environment.stimulus()
        word = machine.step(stimulus)
        moment = Moment(watcher, stimulus, layout.unpack(word))
        found.update(name for name, is_met in CORNERS.items() if is_met(moment))
        watcher.check(stimulus, moment.f)
        environment.observe(word)
    return found
