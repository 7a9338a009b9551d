"""One window by itself, in situations that the page and the corner cases of the reference design name."""

from collections import deque
from dataclasses import dataclass, field

from amaranth.sim import Simulator

from warpfile.hdl.collectors.bow.window import Window
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.bow import BowConfig, WriteClass
from warpfile.spec.trace import Kind, Port

ALL = 0b1111  #: lanes


def config(**changes):
    values = {**PRESETS["tiny"].config.to_json(), "window_entries": 6, "source_slots": 3, "window_writes": "hints"}
    return BowConfig(**BowConfig.adapted(values | {"ports": 1, "bank_skew": "none"} | changes))


@dataclass
class Beat:
    """What a beat needs to enter a window."""

    sources: tuple[int, ...] = ()
    dest: int | None = None
    write_class: WriteClass = WriteClass.BOTH
    port: int = Port.ALU
    kind: int = Kind.NORMAL
    payload: int = 0

    def fields(self):
        slots = list(self.sources) + [0] * (3 - len(self.sources))
        return {
            "sources": slots,
            "source_valid": (1 << len(self.sources)) - 1,
            "dest": self.dest or 0,
            "dest_count": int(self.dest is not None),
            "hints": int(self.write_class),
            "port": int(self.port),
            "kind": int(self.kind),
            "payload": self.payload,
            "executes": 1,
            "mask": ALL,
            "full": 1,
        }


@dataclass
class Result:
    """A result for a register, offered in a given cycle; its bank takes it if it has to."""

    register: int
    write_class: WriteClass = WriteClass.BOTH
    full: bool = True


@dataclass
class World:
    """Everything around a window: beats to issue, results by cycle, a bank that serves reads at once.

    ``takes`` says in which cycles the bank takes entries, ``dispatches`` in which beats leave; default: always. A beat
    is offered as soon as there is room, in cycle ``start[n]`` at the earliest.
    """

    beats: list[Beat]
    results: dict[int, Result] = field(default_factory=dict)
    takes: object = lambda cycle: True
    dispatches: object = lambda cycle: True
    start: dict[int, int] = field(default_factory=dict)
    log: list[dict] = field(default_factory=list)

    def run(self, cycles=40, **changes):
        """Let it run; returns what was seen, cycle by cycle."""
        part = Window(config(**changes))
        simulator = Simulator(part)
        simulator.add_clock(1e-6)

        async def bench(ctx):
            await self._run(ctx, part, cycles)

        simulator.add_testbench(bench)
        simulator.run()
        return self.log

    async def _run(self, ctx, part, cycles):
        waiting, entered, fill = deque(self.beats), 0, 0
        ctx.set(part.cycles, 1)
        for cycle in range(cycles):
            there = bool(waiting) and cycle >= self.start.get(entered, 0)
            self._head(ctx, part, waiting[0] if there else None)
            result = self.results.get(cycle)
            ctx.set(part.results, int(result is not None))
            if result:
                ctx.set(part.registers[0], result.register)
                ctx.set(part.classes[0], int(result.write_class))
                ctx.set(part.full, int(result.full))
            ctx.set(part.accepted, int(ctx.get(part.considered) != 0))
            ctx.set(part.offered, int(there and ctx.get(part.room)))
            ctx.set(part.fill, fill)
            fill = ctx.get(part.request)
            ctx.set(part.grant, fill)
            ctx.set(part.evicted, int(ctx.get(part.evict) and self.takes(cycle)))
            ctx.set(part.dispatch, int(ctx.get(part.ready) and self.dispatches(cycle)))
            self._note(ctx, part)
            fits = part.fits_after if ctx.get(part.accepted) else part.fits
            if ctx.get(part.offered) and ctx.get(fits):
                waiting.popleft()
                entered += 1
            await ctx.tick()

    def _head(self, ctx, part, beat):
        for name in ("buffered", "running"):
            ctx.set(getattr(part, name), int(beat is not None))
        for name, value in (beat.fields() if beat else {}).items():
            if name == "sources":
                for slot, register in enumerate(value):
                    ctx.set(part.head.sources[slot], register)
            else:
                ctx.set(part.head[name], value)

    def _note(self, ctx, part):
        events = ("hit", "miss", "held", "dirty", "evicting", "discard", "store", "bank_write", "drop", "late", "saved")
        seen = {name: ctx.get(part.events[name]) for name in events}
        seen["request"] = ctx.get(part.request_register) if ctx.get(part.request) else None
        seen["evicted"] = ctx.get(part.evict_register) if ctx.get(part.evicted) else None
        seen["dispatch"] = ctx.get(part.out.payload) if ctx.get(part.dispatch) else None
        self.log.append(seen)


def events(log, name):
    """What happened, in order, without the cycles in which it did not."""
    return [seen[name] for seen in log if seen[name]]


def test_a_register_read_again_within_the_window_is_found_and_afterwards_it_is_not():
    idle = Beat(port=Port.NONE)
    log = World([Beat((5,)), idle, Beat((5,)), idle, idle, Beat((5,))]).run(window=3)
    assert events(log, "miss") == [1, 1]
    assert events(log, "hit") == [1]
    assert events(log, "request") == [5, 5]


def test_reads_alone_keep_a_register_in_the_window():
    idle = Beat(port=Port.NONE)
    log = World([Beat((5,)), *[idle, Beat((5,))] * 6]).run(window=3)
    assert (len(events(log, "miss")), len(events(log, "hit"))) == (1, 6)


def test_operands_are_asked_for_by_age_of_the_beat_and_then_in_slot_order():
    beats = [Beat((9, 4, 7)), Beat((4, 2, 8)), Beat((1, 9))]
    log = World(beats, dispatches=lambda cycle: False).run(window_entries=9)
    assert [seen["request"] for seen in log if seen["request"]] == [9, 4, 7, 2, 8, 1]


def test_beats_of_one_port_leave_in_order_and_others_overtake():
    first, second = Beat((1, 2, 3), port=Port.LSU, payload=10), Beat((), port=Port.LSU, payload=11)
    other = Beat((), port=Port.ALU, payload=12)
    log = World([first, second, other]).run(ports=3)
    assert events(log, "dispatch") == [12, 10, 11]


def result_of(write_class, arrives, length=3):
    """A beat that writes register 6 and enters in cycle 0, ``length`` idle ones, and its result."""
    beats = [Beat(dest=6, write_class=write_class), *[Beat(port=Port.NONE)] * length]
    return World(beats, {arrives: Result(6, write_class)}).run(window=3)


def test_a_transient_value_is_discarded_and_one_for_both_is_written_when_it_leaves():
    transient, both = result_of(WriteClass.WINDOW, 1), result_of(WriteClass.BOTH, 1)
    assert (len(events(transient, "discard")), events(transient, "evicted")) == (1, [])
    assert (len(events(both, "discard")), events(both, "evicted")) == (0, [6])
    assert len(events(transient, "store")) == len(events(both, "store")) == 1


def test_a_late_result_goes_where_its_class_says_but_never_into_the_window():
    seen = {write_class: result_of(write_class, 20) for write_class in WriteClass}
    assert all(events(log, "late") and not events(log, "store") for log in seen.values())
    banked = {write_class for write_class, log in seen.items() if events(log, "bank_write")}
    dropped = {write_class for write_class, log in seen.items() if events(log, "drop")}
    assert banked == {WriteClass.FILE, WriteClass.BOTH} and dropped == {WriteClass.NEITHER, WriteClass.WINDOW}


def test_lanes_that_arrive_while_an_entry_is_written_to_its_bank_are_written_again():
    idle = Beat(port=Port.NONE)
    beats = [Beat(dest=6), idle, Beat(dest=6), idle, idle, idle]
    slow = World(beats, {1: Result(6), 9: Result(6, full=False)}, start={2: 3}, takes=lambda cycle: cycle >= 9)
    log = slow.run(window=2)
    assert log[9]["evicting"] and log[9]["evicted"] == 6
    assert log[10]["evicting"] == log[9]["evicting"]
    assert events(log, "evicted") == [6, 6]


def test_a_whole_result_makes_the_eviction_needless():
    idle = Beat(port=Port.NONE)
    beats = [Beat(dest=6), idle, idle, Beat(dest=6)]
    log = World(beats, {1: Result(6), 8: Result(6)}, takes=lambda cycle: cycle > 8).run(window=2)
    assert log[8]["evicting"] and log[8]["saved"] and not log[9]["evicting"]
    assert log[9]["dirty"] == log[8]["evicting"] and events(log, "evicted") == []


def test_the_end_of_the_warp_forgets_what_is_owed():
    log = World([Beat(dest=6), Beat(kind=Kind.EXIT, port=Port.NONE)], {1: Result(6)}, start={1: 5}).run()
    assert any(seen["dirty"] for seen in log) and not log[-1]["held"]
    assert events(log, "evicted") == events(log, "discard") == []
