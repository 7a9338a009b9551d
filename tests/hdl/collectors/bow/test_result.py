"""What becomes of a result: the part against the rows of the page's table, written out again, over random states."""

import random

import pytest
from amaranth import Value
from amaranth.sim import Simulator

from warpfile.hdl.collectors.bow.result import ResultChoice
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.bow import BowConfig

PORTS = 3
STATES = ("free", "filling", "clean", "dirty", "evicting")
#: Write class, full, late, state of the entry (None: none), one can be had -> in the window, at the bank. First row.
ROWS = {
    "merge": lambda wc, full, late, state, had: not full and state in ("clean", "dirty"),
    "merge on its way": lambda wc, full, late, state, had: not full and state == "evicting",
    "late and unwanted": lambda wc, full, late, state, had: not full and late and wc in (0b10, 0b00),
    "lanes to the bank": lambda wc, full, late, state, had: not full,
    "file only": lambda wc, full, late, state, had: wc == 0b01,
    "nowhere": lambda wc, full, late, state, had: wc == 0b00,
    "store": lambda wc, full, late, state, had: not late and (state is not None or had),
    "no entry": lambda wc, full, late, state, had: not late,
    "late, to the bank": lambda wc, full, late, state, had: wc == 0b11,
    "late, nowhere": lambda wc, full, late, state, had: wc == 0b10,
}
MERGES, STORES = ("merge", "merge on its way"), ("store",)
FREES = ("file only", "nowhere", "late, to the bank", "late, nowhere")
BANKED = ("lanes to the bank", "file only", "no entry", "late, to the bank")
DROPS = ("late and unwanted", "nowhere", "late, nowhere")


def config(entries, writes):
    values = {**PRESETS["tiny"].config.to_json(), "window_entries": entries, "window_writes": writes, "ports": PORTS}
    return BowConfig(**BowConfig.adapted(values))


def mask(bits):
    return sum(int(bit) << place for place, bit in enumerate(bits))


def entry_that_can_be_had(states, pinned, order):
    free = [entry for entry, state in enumerate(states) if state == "free"]
    old = [entry for entry in order if states[entry] == "clean" and not pinned[entry]]
    return (free + old)[0] if free + old else None


class Case:
    """Random entries of a window, at most one of them with the result's register, and a result."""

    def __init__(self, rng, entries, writes):
        through = writes == "through"
        self.states = rng.choices(
            STATES[:3] if through else STATES, rng.choices((1, 2, 9), k=3 if through else 5), k=entries
        )
        self.pinned = [state == "filling" or (state == "clean" and rng.random() < 0.5) for state in self.states]
        self.owed = [state == "dirty" and rng.random() < 0.5 for state in self.states]
        self.stale = [state in ("clean", "dirty") and rng.random() < 0.3 for state in self.states]
        self.order = rng.sample(range(entries), entries)
        able = [entry for entry in range(entries) if self.states[entry] != "filling" and not self.pinned[entry]]
        self.named = rng.choice([None, *able])  # a free entry may still have the register's name
        self.write_class = rng.randrange(4) if writes == "hints" else 0b11
        self.full, self.late = rng.random() < 0.6, rng.random() < 0.4
        self.outdated = not self.late and rng.random() < 0.5
        self.port = rng.randrange(PORTS)
        self.others = rng.getrandbits(32)  # what results look like that are not considered

    def drive(self, ctx, part):
        for name in STATES:
            ctx.set(part.entries[name], mask(state == name for state in self.states))
        ctx.set(part.entries.owed, mask(self.owed))
        ctx.set(part.entries.stale, mask(self.stale))
        ctx.set(part.pinned, mask(self.pinned))
        place = {entry: at for at, entry in enumerate(self.order)}
        count = range(len(self.order))
        ctx.set(part.older, mask(place[first] < place[second] for first in count for second in count))
        ctx.set(part.considered, 1 << self.port)
        ctx.set(part.outdated, self.outdated)
        name = 0 if self.named is None else 1 << self.named
        for member, width, value in (
            *(("named", len(self.states), name), ("full", 1, self.full)),
            *(("late", 1, self.late), ("write_class", 2, self.write_class)),
        ):
            mine, rest = (1 << width) - 1, self.others % (1 << width * PORTS)
            rest ^= (rest >> self.port * width & mine) << self.port * width
            ctx.set(Value.cast(getattr(part, member)), rest | int(value) << self.port * width)

    def state(self):
        """State of the register's entry, None if it has none."""
        state = None if self.named is None else self.states[self.named]
        return None if state == "free" else state

    def outcome(self, through):
        """Row, then the entries after it: state, owed, stale."""
        had = entry_that_can_be_had(self.states, self.pinned, self.order)
        facts = (self.write_class, self.full, self.late, self.state(), had is not None)
        row = next(name for name, fits in ROWS.items() if fits(*facts))
        after = [list(each) for each in zip(self.states, self.owed, self.stale, strict=True)]
        entry = self.named if self.state() else had
        if row in FREES and self.state():
            after[entry][0] = "free"
        elif row == "store":
            after[entry] = ["clean" if through else "dirty", bool(self.write_class & 1), self.outdated]
        elif row == "merge" and not through:
            after[entry][:2] = ["dirty", True]
        return row, entry, after


@pytest.mark.parametrize("writes", ("through", "back", "hints"))
@pytest.mark.parametrize("entries", (2, 6))
def test_a_result_does_what_the_first_row_that_fits_says(entries, writes):
    part, rng, met = ResultChoice(config(entries, writes)), random.Random(f"{entries} {writes}"), set()
    through = writes == "through"

    async def bench(ctx):
        for _ in range(400):
            case = Case(rng, entries, writes)
            case.drive(ctx, part)
            row, entry, after = case.outcome(through)
            met.add(row)
            assert ctx.get(part.stored) == (1 << entry if row in STORES else 0), row
            assert ctx.get(part.merged) == (1 << entry if row in MERGES else 0), row
            assert ctx.get(part.had) == (1 << entry if row in STORES and case.state() is None else 0), row
            assert ctx.get(part.bank_request) == (through or row in BANKED) << case.port, row
            assert ctx.get(part.dropped) == (row in DROPS), row
            for name in STATES:
                assert ctx.get(part.then[name]) == mask(state == name for state, _, _ in after), (row, name)
            held = [state in ("clean", "dirty") for state, _, _ in after]
            dirty = mask(state == "dirty" for state, _, _ in after)
            assert ctx.get(part.then.owed) & dirty == mask(owed for _, owed, _ in after) & dirty, row
            assert ctx.get(part.then.stale) & mask(held) == mask(stale for _, _, stale in after) & mask(held), row

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
    assert met == {row for row in ROWS if possible(row, writes)}


def possible(row, writes):
    """Whether a mode has results that meet a row at all."""
    if writes == "hints":
        return True
    classes = ("late and unwanted", "file only", "nowhere", "late, nowhere")
    return row not in (*classes, "merge on its way") if writes == "through" else row not in classes
