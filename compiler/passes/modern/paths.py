"""What control codes do not cover of the latencies of a machine, over all paths of a listing.

A producer of fixed latency must be D or Dv ticks ahead of every reader of its results; the counter of one of variable
latency must be waited for before its results are read or written, and before its sources are written
(docs/schemes/modern.md, section 15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpfile.compiler.cfg import STEP, build_cfg
from warpfile.compiler.control_codes import ControlCode
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.passes.modern.codes import waited
from warpfile.compiler.passes.modern.exclusive import exclusive
from warpfile.compiler.passes.modern.read_positions import Placed, Waits, placed, waits_of
from warpfile.compiler.program import static_instruction
from warpfile.compiler.worklist import Worklist
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import Kind, Port, Space, StaticInstruction

_MANY = 64  #: more instructions than a counter can count
SEEN = 2  #: ticks from a producer to the first instruction that sees its dependence counter
_FAR = 16  #: ticks, more than one instruction's stall
_LATEST = 2  #: ticks by which the last of four results comes behind the second one
_UNORDERED = (Space.GLOBAL, Space.LOCAL)  #: a hit overtakes a miss


@dataclass(frozen=True, order=True)
class Finding:
    """An instruction ``at`` that comes too early for one ``before`` it, both as offsets, because of a register.

    ``distance`` and ``needed`` are ticks behind a producer of fixed latency. For one of variable latency they are 0,
    and ``unread`` tells whether its sources or its results are not waited for.
    """

    at: int
    before: int
    register: int
    unread: bool = False
    distance: int = 0
    needed: int = 0

    def __str__(self) -> str:
        if self.needed:
            why = f"issues {self.distance} ticks after {self.before:#x} wrote R{self.register}, and needs {self.needed}"
        elif self.unread:
            why = f"writes R{self.register} and does not wait until {self.before:#x} has read it"
        else:
            why = f"needs R{self.register} and does not wait for {self.before:#x}, which writes it"
        return f"{self.at:#x} {why}"


def findings(function: Function, cfg: ReadWindowConfig, codes: Sequence[ControlCode]) -> frozenset[Finding]:
    """Everything that comes too early on some path under these codes, one per instruction of the function.

    Every instruction is taken to execute in all lanes, but for two with opposite guards (:func:`exclusive`), and an
    indirect call to do nothing. Waits for units, queues and counters are not counted as distance: the codes do not
    promise them.
    """
    return frozenset(_Paths(function, codes, cfg.fixed_distance, cfg.variable_distance).findings())


def closest(function: Function, codes: Sequence[ControlCode]) -> dict[str, int]:
    """Least ticks from a producer of fixed latency to a reader, by who reads; nothing where all are ``_FAR`` behind."""
    found: dict[str, int] = {}
    for one in _Paths(function, codes, _FAR, _FAR).findings():
        if one.needed:
            reader = placed(static_instruction(function.instructions[one.at // STEP]), None)
            of = "low half" if one.needed < _FAR else "fixed reader" if reader.fixed else "variable reader"
            found[of] = min(found.get(of, _FAR), one.distance)
    return found


@dataclass(frozen=True)
class _Step:
    """An instruction with its code. ``ticks``: from its last beat to the next instruction."""

    static: StaticInstruction
    place: Placed
    code: ControlCode
    guard: object
    leaves: Waits | None

    @property
    def ticks(self) -> int:
        return SEEN if self.code.yields and self.code.stall <= 1 else max(self.code.stall, 1)

    @property
    def beat_ticks(self) -> int:
        return 2 if self.place.fixed else 1

    @property
    def raised(self) -> int:
        """Counters that are above 0 until its sources are read."""
        return _bit(self.code.read_barrier) | self.results

    @property
    def results(self) -> int:
        """Counters that are above 0 until its results are there."""
        return _bit(self.code.write_barrier)

    @property
    def queue(self) -> bool:
        """Which one reads its operands, if its latency varies."""
        return self.place.port is Port.LSU

    def sources(self) -> Mapping[int, int]:
        """Registers that it reads, with the ticks from its first beat to the one that does."""
        found: dict[int, int] = {}
        for number, group in enumerate(self.place.groups):
            for register in group:
                found.setdefault(register, number * self.beat_ticks)
        return found

    def lateness(self, register: int) -> int:
        """Ticks by which one of several results comes behind the second one (docs/schemes/modern.md, section 7.7)."""
        return self.static.dests.index(register) - 1 if len(self.static.dests) > 1 else 0

    def ends(self, late: _Late, unread: bool) -> bool:
        """Whether it issues after something is done: it waits for a counter, or at a barrier for every queued beat."""
        return bool(late.counters & self.code.wait_mask) or (unread and self.static.kind is Kind.BARRIER)

    def follows(self, other: _Step) -> bool:
        """Whether its results come behind those of one before it."""
        same = self.place.port is other.place.port and self.static.space is other.static.space
        return same and self.static.space not in _UNORDERED


def _bit(counter: int | None) -> int:
    return 0 if counter is None else 1 << counter


def _step(instruction: Instruction, code: ControlCode) -> _Step:
    static = static_instruction(instruction)
    place = placed(static, instruction)
    return _Step(static, place, waited(code, static, place), instruction.guard, waits_of(static))


@dataclass(frozen=True)
class _Late:
    """Counters of which any one at 0 says that something is done, and those that will say so an instruction later.

    ``behind``: instructions that come after it in order, under the counter of its results; less than none if any under
    that counter does not come in order.
    """

    counters: int
    soon: int = 0
    behind: int = 0

    def seen(self) -> _Late:
        return replace(self, counters=self.counters | self.soon, soon=0) if self.soon else self

    def joined(self, other: _Late) -> _Late:
        both, behind = self.counters & other.counters, min(self.behind, other.behind)
        return _Late(both, (self.counters | self.soon) & (other.counters | other.soon) & ~both, behind)


#: What is under way at some place: ticks since a result of fixed latency, by its instruction and register, at least;
#: and the same of variable latency, by instruction, register and whether it is a source.
_Ticks = dict[tuple[int, int], int]
_Waits = dict[tuple[int, int, bool], _Late]
_State = tuple[_Ticks, _Waits]


class _Paths:
    """A forward walk to the least distances and the surest counters over all paths."""

    def __init__(self, function: Function, codes: Sequence[ControlCode], fixed: int, variable: int) -> None:
        self._steps = [_step(one, code) for one, code in zip(function.instructions, codes, strict=True)]
        self._graph = build_cfg(function)
        self._fixed, self._variable = fixed, variable
        self._found: set[Finding] = set()

    def findings(self) -> set[Finding]:
        """Walk until nothing changes, then look."""
        reachable = self._graph.reachable()
        states: dict[int, _State] = {block: ({}, {}) for block in (0, *self._graph.entries.values())}
        work = Worklist([one for one in self._graph.flow_order if one in reachable])
        while work:
            block = work.pop()
            after = self._through(block, states.setdefault(block, ({}, {})))
            for target in self._graph.flow_successors[block]:
                if _join(states, target, after):
                    work.push(target)
        self._found.clear()
        for block in sorted(reachable):
            self._through(block, states[block])
        return self._found

    def _through(self, block: int, state: _State) -> _State:
        ticks, waits = dict(state[0]), dict(state[1])
        for index in self._graph.blocks[block].instructions:
            step = self._steps[index]
            for one in [one for one, late in waits.items() if step.ends(late, unread=one[2])]:
                del waits[one]
            if step.leaves is not None:
                waits = self._left(step.leaves, waits)
            if step.place.port is not Port.NONE:
                self._early(index, step, ticks)
                self._waited(index, step, waits)
            ticks = self._later(index, step, ticks)
            waits = self._counted(index, step, waits)
        return ticks, waits

    def _left(self, found: Waits, waits: _Waits) -> _Waits:
        """What may be out behind a DEPBAR.LE."""
        done = {
            producer
            for (producer, _, unread), late in waits.items()
            if not unread and self._steps[producer].code.write_barrier == found.barrier and late.behind >= found.most
        }
        return {key: late for key, late in waits.items() if key[0] not in done}

    def _early(self, index: int, step: _Step, ticks: _Ticks) -> None:
        """What the instruction reads before it is there."""
        sources, usual = step.sources(), self._fixed if step.place.fixed else self._variable
        for (producer, register), passed in ticks.items():
            if register in sources and not exclusive(self._graph, producer, index):
                distance, needed = passed + sources[register], usual + self._steps[producer].lateness(register)
                if distance < needed:
                    self._found.add(Finding(index * STEP, producer * STEP, register, distance=distance, needed=needed))

    def _waited(self, index: int, step: _Step, waits: _Waits) -> None:
        """What it reads or writes without having waited, which is said once."""
        sources, dests = step.sources(), step.static.dests
        for producer, register, unread in list(waits):
            touched = register in dests or (register in sources and not unread)
            if touched and not exclusive(self._graph, producer, index):
                del waits[producer, register, unread]
                if not self._in_order(producer, unread, step, register in sources and not unread):
                    self._found.add(Finding(index * STEP, producer * STEP, register, unread))

    def _in_order(self, producer: int, unread: bool, step: _Step, reads: bool) -> bool:
        """Whether a write comes behind what is under way without a wait."""
        other = self._steps[producer]
        if reads or not step.place.variable:
            return False
        if unread:
            return step.queue == other.queue
        return step.follows(other)

    def _later(self, index: int, step: _Step, ticks: _Ticks) -> _Ticks:
        """Ticks at the next instruction."""
        passed = (len(step.place.groups) - 1) * step.beat_ticks + step.ticks
        if step.guard is None:
            ticks = {key: value for key, value in ticks.items() if key[1] not in step.static.dests}
        most = max(self._fixed, self._variable) + _LATEST
        later = {key: value + passed for key, value in ticks.items() if value + passed < most}
        if step.place.fixed:
            later |= {(index, register): step.ticks for register in step.static.dests}
        return later

    def _counted(self, index: int, step: _Step, waits: _Waits) -> _Waits:
        """Counters that say more from now on."""
        waits = {key: late.seen() for key, late in waits.items()}
        if not step.place.variable:
            return waits
        for register in step.sources():
            waits[index, register, True] = _Late(0)
        for register in step.static.dests:
            waits[index, register, False] = _Late(0)
        return {key: self._covered(key, step, late) for key, late in waits.items()}

    def _covered(self, key: tuple[int, int, bool], step: _Step, late: _Late) -> _Late:
        producer, _, unread = key
        other = self._steps[producer]
        if unread:
            counters = step.raised if step.queue == other.queue else 0
        else:
            counters = step.results if other is step or step.follows(other) else 0
            late = self._behind(other, step, late)
        counters &= ~late.counters
        if step.ticks < SEEN:
            return replace(late, soon=late.soon | counters)
        return replace(late, counters=late.counters | counters)

    def _behind(self, other: _Step, step: _Step, late: _Late) -> _Late:
        """One more under the counter of an earlier one."""
        if other is step or not other.results & step.raised:
            return late
        in_order = step.follows(other) and step.code.read_barrier != other.code.write_barrier
        return replace(late, behind=min(late.behind + 1, _MANY) if in_order else -_MANY)


def _join(states: dict[int, _State], block: int, state: _State) -> bool:
    """Bring what is under way at the end of a block to one behind it; whether that is news there."""
    if block not in states:
        states[block] = state
        return True
    (ticks, waits), (more_ticks, more_waits) = states[block], state
    new_ticks = ticks | {key: min(value, ticks.get(key, value)) for key, value in more_ticks.items()}
    new_waits = waits | {key: waits[key].joined(late) if key in waits else late for key, late in more_waits.items()}
    states[block] = new_ticks, new_waits
    return (new_ticks, new_waits) != (ticks, waits)
