"""The traces that campaigns of mutants run, in their order."""

from __future__ import annotations

from functools import partial

from warpfile.sim.mutation.cases import (
    BorrowTrace,
    Case,
    FixedTrace,
    NumberedTrace,
    SectionTrace,
    SharingTrace,
    StressTrace,
    UncachedTrace,
    counts_accesses,
)
from warpfile.spec.stress.directed import alike_trace, drain_trace, leaving_trace, levels_trace, save_trace, stray_trace
from warpfile.spec.stress.directed_sharing import (
    beside_trace,
    brim_trace,
    far_trace,
    pending_trace,
    starved_trace,
    turns_trace,
    twins_trace,
)
from warpfile.spec.stress.pending import back_to_back_trace, left_trace, queue_trace, release_trace, repeat_trace
from warpfile.spec.stress.random_sharing import crowd_trace, share_trace
from warpfile.spec.stress.slices import fill_trace, gap_trace, march_trace, pair_trace, stack_trace
from warpfile.spec.trace import Port

#: A short trace kills most. Different numbers of registers give the warps different bases; with 63 every name is used,
#: but on ``tiny`` only four warps have room.
TRACES: tuple[Case, ...] = (
    StressTrace("mixed", 0, 24, 9),
    *(
        StressTrace(profile, seed, registers)
        for seed in range(1, 4)
        for registers in (50, 63, 37)
        for profile in ("predicate", "wide", "chain", "mixed", "bank", "control")
    ),
    # Found by search: the SFU or memory releases one particular register or token while another one is pending.
    StressTrace("chain", 122, 50),
    StressTrace("memory", 122, 50),
    StressTrace("memory", 15, 63),
    # The same for two ports in one cycle.
    StressTrace("chain", 201, 50, 60),
    # Every register pending while every other one is released, port by port, in one of the turns for its warps.
    *(FixedTrace(f"release {turn}", partial(release_trace, turn=turn)) for turn in range(4)),
    # A token is released with every register, also by ports whose stores differ in length.
    StressTrace("chain", 4, 63, tokens=True),
    # More than 3/4 of 65,536 beats: their numbers use every bit of a payload of 16.
    NumberedTrace("mixed", 4, 24, 260, fewer=(160,)),
)

#: All warps at once in the registers that they borrow, which are others from trace to trace.
BORROWED: tuple[Case, ...] = tuple(BorrowTrace(seed, registers) for seed in range(1, 7) for registers in (50, 63, 40))

#: Sections of every size, given up while some register is pending; first accesses without a section.
SECTIONED: tuple[Case, ...] = (
    *(SectionTrace(f"drain {extended}", drain_trace, extended) for extended in range(1, 64)),
    *(SectionTrace(f"stray {one}", partial(stray_trace, one), 22, lost=True) for one in range(42, 50)),
)

#: One result of fixed and one of variable latency, each the only one of its run, for a register that is not cached.
UNCACHED: tuple[Case, ...] = tuple(
    UncachedTrace(f"uncached {port.name}", partial(stray_trace, 22, port=port)) for port in (Port.ALU, Port.SFU)
)

#: Loads that are absorbed, by plan: beside stores of every size, while no bank is free, in every row, made of two rows,
#: with two entries.
DIRECTED_SHARING: tuple[Case, ...] = (
    SharingTrace("brim", brim_trace),
    SharingTrace("starved", starved_trace),
    SharingTrace("pending", pending_trace),
    SharingTrace("far", far_trace),
    *(SharingTrace("turns", turns_trace, turn) for turn in (0, 1)),
    SharingTrace("beside", beside_trace),
    SharingTrace("twins", twins_trace),
)

#: The same at random, in low rows and in high ones.
RANDOM_SHARING: tuple[Case, ...] = (
    *(SharingTrace("share", share_trace, seed, loosened=seed % 2 == 1) for seed in range(16)),
    *(SharingTrace("crowd", crowd_trace, seed, loosened=seed % 2 == 1) for seed in range(24)),
)

#: What fits in a row, in every row, for machines whose values share rows.
MARCHING: tuple[Case, ...] = tuple(
    FixedTrace(f"{name} {number}", partial(make, number), lambda scheme, cfg: cfg.gives.slices)
    for name, make, count in (("march", march_trace, 14), ("levels", levels_trace, 4))
    for number in range(count)
)

#: Every register often, of a machine of 64; they are long, and for machines that count what a kernel reads and writes.
COUNTED: tuple[Case, ...] = tuple(
    FixedTrace(f"repeat {pair}", partial(repeat_trace, pair), counts_accesses) for pair in range(32)
)

#: Found by search or made for one corner: a result for a line that leaves its cache in that cycle, in the second
#: place; the last register as the last one of a hint, and a partner in one particular row, for which only four warps
#: have room; a narrow value while all low rows are full; narrow values in one particular row of 128, above full ones,
#: and a pair in one while another has a gap; a gap in every row and in the last one; many loads under one dependence
#: counter, with near and with far lanes, and some that a DEPBAR waits for; each register read right behind its write
#: and that of each other one of its eight; all lanes alike, and all but one bit of one lane; a load that completes in
#: each cycle around that in which its warp leaves a place; every pair of registers of which one is saved while the
#: other one is loaded; warps of a few beats, so that they are launched while places become free.
SEARCHED: tuple[Case, ...] = (
    StressTrace("mask", 63, 38, 20, 300, (3, 1, 2)),
    BorrowTrace(2, 64, 4),
    BorrowTrace(4, 64, 4),
    FixedTrace("fill 0/63", partial(fill_trace, 0)),
    *(
        FixedTrace(f"stack {seed}/{wide}", partial(stack_trace, seed, wide))
        for seed, wide in ((4, 35), (5, 55), (0, 59), (18, 62))
    ),
    FixedTrace("pairs 36", partial(pair_trace, 36)),
    FixedTrace("gaps", gap_trace, lambda scheme, cfg: cfg.gives.slices),
    FixedTrace("queue 0", partial(queue_trace, 0)),
    FixedTrace("queue 3", partial(queue_trace, 3, counter=3, far=True)),
    FixedTrace("left", left_trace),
    FixedTrace("back to back", back_to_back_trace),
    FixedTrace("alike", alike_trace),
    FixedTrace("leaving", leaving_trace),
    FixedTrace("save", save_trace),
    StressTrace("mixed", 0, 16, 150, 3, (3, 2)),
)
