"""The worked examples of the schemes as SASS, with the hints that follow from the papers, written down by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.compiler.passes.modern.coded import EXAMPLE
from tests.schemes.worked_hints import (
    NOWHERE,
    VIRTUAL,
    Code,
    CodedExample,
    Example,
    ExecutedExample,
    LaunchedExample,
    Said,
)
from warpfile.spec.stress.warp_programs import WarpProgram

#: Dissertation, figure 3.6; loads have 32-bit addresses, so that each names one register.
_WINDOWS = """
    LDG.SYS R3, [R8]
    MOV R2, 0x7
    IMAD R1, R0, R2, RZ
    IMAD R1, R0, R2, R1
    SHF.L.U32 R1, R1, 0x2, RZ
    IMAD R0, R0, R2, R1
    IADD3 R0, R0, 0x1, RZ
    IADD3 R0, R9, R0, RZ
    IADD3 R1, R0, 0x4, RZ
    LDG.SYS R2, [R1]
    ISETP.NE.AND P0, PT, R2, RZ, PT
    ISETP.NE.AND P1, PT, R2, 0x3, PT
    ISETP.NE.AND P2, PT, R3, R1, PT
"""
_READ = ((8,), (), (0, 2), (0, 2, 1), (1,), (0, 2, 1), (0,), (9, 0), (0,), (1,), (2,), (2,), (3, 1), ())


def windows(window: int, classes: Sequence[int], slots: int, counters: Mapping[str, int], **changes: object) -> Example:
    """The example of the windows; classes of the results in the order of the listing."""
    said = (Said(read, kind) for read, kind in zip(_READ, (*classes, 0, 0, 0, 0), strict=True))
    changes |= {
        "window": window,
        "window_entries": 12,  # more than there are registers
        "source_slots": slots,
        "lanes": 1,
        "warps": 2,
    }  # one warp runs: eight windows take longer to build
    return Example("bow_wr", "pascal", changes, _WINDOWS, dict(enumerate(said)), counters)


FILE, WINDOW, BOTH = 0b01, 0b10, 0b11
#: Table 3.1: 2 writes with a window of three. With two, R2 of line 3 and R1 of line 10 are read beyond the window.
_BY_THREE = (FILE, WINDOW, WINDOW, WINDOW, WINDOW, WINDOW, WINDOW, WINDOW, BOTH, WINDOW)
_BY_TWO = (FILE, BOTH, *_BY_THREE[2:])
_COUNTS = {"bank_reads": 5, "bypassed_reads": 14}
WINDOWS = (
    windows(3, _BY_THREE, 3, {"bank_writes": 2} | _COUNTS),
    windows(2, _BY_TWO, 3, {"bank_writes": 3, "bank_reads": 7, "bypassed_reads": 12}),
    # Two source slots: the multiply-adds of three sources take two beats. Within seven beats only R3 is not read.
    windows(7, (FILE, *[WINDOW] * 9), 2, {}),
)

#: A multiply-add, an addition and a move. Within two instructions R5 is not read behind the addition, but is behind the
#: move, as R1 is, where the branch leads.
_UNITS = """
    FFMA R4, R1, R2, R3
    FADD R5, R4, R1
    NOP
    NOP
    MOV R1, R5
    @P0 BRA `(rest)
    EXIT
    rest:
    FADD R6, R5, R1
    FFMA R7, R2, R3, R6
    FADD R8, R6, R7
"""
_UNIT_SAID = {
    0: Said((1, 2, 3), near=(1,), near_dests=1),
    1: Said((4, 1)),
    2: Said(),
    3: Said(),
    4: Said((5,), near=(5,), near_dests=1),
    5: Said(),
}
_UNITS_TAKEN = {
    7: Said((5, 1), near_dests=1),
    8: Said((2, 3, 6), near=(6,), near_dests=1),
    9: Said((6, 7)),
    10: Said(),
}


def units(slots: int, end: Mapping[int, Said], counters: Mapping[str, int]) -> Example:
    """The example of the caching units; ``end`` is what the warp executes behind the branch."""
    changes = {"banks": 2, "bank_skew": "none", "collectors": 1, "wait_control": "fixed", "source_slots": slots}
    changes |= {"reuse_hints": "static", "reuse_threshold": 2, "lanes": 1, "warps": 2}
    return Example("malekeh", "turing", changes, _UNITS, _UNIT_SAID | end, counters)


UNITS = (
    units(3, {6: Said()}, {"sources": 6, "source_hits": 2, "bank_reads": 4, "bank_writes": 3, "cached_results": 2}),
    units(2, _UNITS_TAKEN, {}),
    units(1, _UNITS_TAKEN, {}),
)

#: Short chains, a load, and two results that are read behind the suspension; where the branch leads all are read again.
_CACHE = """
    MOV R1, 0x1
    IADD3 R2, R1, 0x1, RZ
    IADD3 R3, R1, R2, RZ
    IADD3 R4, R3, 0x1, RZ
    IADD3 R5, R4, R9, RZ
    LDG.SYS R6, [R5]
    IADD3 R7, R6, R4, RZ
    @P0 BRA `(rest)
    EXIT
    rest:
    IADD3 R8, R3, R4, R9
    IADD3 R8, R6, R7, R8
"""
_CACHE_SAID = {
    0: Said(),
    1: Said((1,)),
    2: Said((1, 2), dead=(1, 2), evict_first=(1, 2)),
    3: Said((3,), evict_first=(3,)),
    4: Said((4, 9), evict_first=(4, 9)),
    5: Said((5,), dead=(5,), evict_first=(5,), no_allocate=True),
    6: Said((6, 4), suspend=True),
    7: Said(),
}
_CACHE_TAKEN = {
    9: Said((3, 4, 9), dead=(3, 4, 9), evict_first=(3, 4, 9)),
    10: Said((6, 7, 8), dead=(6, 7, 8), evict_first=(6, 7, 8), no_allocate=True),
    11: Said(),
}


def cache(slots: int, end: Mapping[int, Said], counters: Mapping[str, int], **changes: object) -> Example:
    """The example of the register cache; ``end`` is what the warp executes behind the branch."""
    changes |= {"active_warps": 1, "cache_entries": 2, "source_slots": slots, "lanes": 1, "warps": 2}
    return Example("rfc", "isca2011", changes, _CACHE, _CACHE_SAID | end, counters)


_CACHE_COUNTS = {"cache_hits": 6, "cache_misses": 3, "bank_reads": 3, "bank_writes": 3, "evictions": 1, "flushes": 1}
CACHE = (
    cache(3, {8: Said()}, {**_CACHE_COUNTS, "long_results": 1, "evictions_dead": 2, "flushes_dead": 1}),
    cache(2, _CACHE_TAKEN, {}),
    cache(1, _CACHE_TAKEN, {}),
)

#: Three intervals of four registers: R0 to R3, then R1, R3 and R4, then R2 to R5.
_INTERVALS = """
    MOV R0, 0x1
    MOV R1, 0x2
    IADD3 R2, R0, R1, RZ
    IADD3 R3, R1, R2, RZ
    IADD3 R4, R3, R1, RZ
    FFMA R5, R4, R3, R2
"""
_LAST = {2: (0,), 4: (1,), 5: (4, 3, 2)}
_INTERVALS_READ = ((), (), (0, 1), (1, 2), (3, 1), (4, 3, 2), ())


def intervals(scheme: str, slots: int, counters: Mapping[str, int]) -> Example:
    """The example of the intervals, of one warp with one place."""
    changes = {"interval_registers": 4, "active_warps": 1, "warps": 2, "register_names": 16, "lanes": 1}
    said = {
        at: Said(read, dead=_LAST.get(at, ()) if scheme == "ltrf_plus" else (), prefetched=at in (0, 4, 5))
        for at, read in enumerate(_INTERVALS_READ)
    }
    return Example(scheme, "maxwell", changes | {"source_slots": slots}, _INTERVALS, said, counters)


#: Registers that stay in their banks: R1 and R3, then R3 and R4. Operands are 2, 2, 2 and 3, results 6.
_ENTERED = {"prefetches": 3, "kept_registers": 4, "refetches": 0, "bank_reads": 9, "error_cycles": 0}
INTERVALS = (
    # All of the first, R4, then R2 and R5 are fetched; R0 and R2, then R1 are written back.
    intervals(
        "ltrf",
        3,
        _ENTERED
        | {"prefetch_fills": 7, "dead_fills": 0, "prefetch_backs": 3, "unsaved_steps": 0}
        | {"main_reads": 7, "main_writes": 3, "cache_reads": 12, "cache_writes": 13},
    ),
    # Only R2 is alive when it leaves and when it comes back.
    intervals(
        "ltrf_plus",
        3,
        _ENTERED
        | {"prefetch_fills": 1, "dead_fills": 6, "prefetch_backs": 1, "unsaved_steps": 2}
        | {"main_reads": 1, "main_writes": 1, "cache_reads": 10, "cache_writes": 7},
    ),
    intervals("ltrf_plus", 2, {}),
    intervals("ltrf_plus", 1, {}),
)

#: R0 dies where R1 lives on; R1 is read and written by one instruction, in which two others die.
_DYING = """
    MOV R0, 0x1
    MOV R1, 0x2
    IADD3 R2, R0, R1, RZ
    FFMA R3, R2, R1, R2
    FFMA R1, R1, R3, R2
    MOV R5, R1
"""
_DYING_SAID = ((), (), (0, 1), (2, 1), (1, 3, 2), (1,), ())
_DYING_DEAD = {2: (0,), 4: (3, 2), 5: (1,)}


def dying(scheme: str, slots: int, counters: Mapping[str, int]) -> Example:
    """The example of dead registers; metadata, if there are any, come first."""
    said = {
        at: Said(read, dead=_DYING_DEAD.get(at, ()), told=at == 0 and bool(VIRTUAL[scheme]))
        for at, read in enumerate(_DYING_SAID)
    }
    return Example(scheme, "tiny", {"source_slots": slots}, _DYING, said, counters)


DYING = tuple(
    dying(scheme, slots, {"kills_done": 4, "kills_refused": 0, "unmapped_reads": 0} | ({"metadata": 1} if told else {}))
    for scheme, told in VIRTUAL.items()
    for slots in (3, 2, 1)
)

THREE, TWO, NONE = (0, 1, 2), (0, 1, NOWHERE), (NOWHERE,) * 3


def coded(code: str, said: Sequence[Code], sources: Sequence[tuple[int, ...]], **counters: int) -> Example:
    """An example of the read window; the second operand of FADD is at the last position."""
    names = "hit", "miss", "shared", "texture", "sfu", "double", "tensor"
    changes = {f"{name}_latency": 8 for name in names} | {"cache_lines": 0, "variable_delay": 5, "lanes": 1, "warps": 2}
    hints = (Said(read, code=one) for read, one in zip(sources, said, strict=True))
    return CodedExample("modern", "ampere", changes, code, dict(enumerate(hints)), counters)


_WINDOW_READ = ((10, 12, 14), (16, 18, 21), (16, 20, 23), (15, 19), (16, 17), (18, 20, 22), (24, 19, 18), ())
CODED = (
    coded(
        "\n".join(EXAMPLE),
        (
            Code((THREE,), fma=True),
            Code((THREE,), fma=True, reuse=(0b001,)),
            Code((THREE,), fma=True, stall=4),
            Code(((0, NOWHERE, 1),), fma=True, stall=5),
            Code((TWO,), write=0, read=1, stall=2),
            Code((THREE,), wait=0b10),
            Code((THREE,), wait=0b01),
            Code(),
        ),
        _WINDOW_READ,
        freezes=1,
        fixed_sources=17,
        rfc_hits=1,
        fixed_reads=16,
        variable_reads=2,
        rfc_allocations=1,
        forwards=1,
    ),
    # An addend of two registers, read in a second pass; operands of two registers each; data to be stored.
    coded(
        "IMAD.WIDE R6, R2.reuse, R3, R4 | S5 Y\n"
        "DFMA R8, R2, R4, R6 | W2 S2 wait5\n"
        "STG.E.64.SYS [R2.64], R8 | R4 S2 wait2",
        (
            Code((THREE, (NOWHERE, NOWHERE, 0)), True, 2, (0b001, 0), registers=2, stall=5, yields=True),
            Code((THREE, THREE), False, 1, (0, 0), write=2, registers=2, stall=2, wait=0b100000),
            Code((THREE, (0, NOWHERE, NOWHERE)), False, 1, (0, 0), read=4, stall=2, wait=0b100),
            Code(),
        ),
        ((2, 3, 4, 5), (2, 3, 4, 5, 6, 7), (2, 3, 8, 9), ()),
    ),
)

#: A vector that is loaded twice, stored to, and another one that crosses 4 GB. Addresses begin with 4 GB.
_SHARED = """
    S2R R0, SR_LANEID
    SHF.L.U32 R2, R0, 0x2, RZ
    MOV R3, 0x1
    LDG.E.SYS R4, [R2.64+0x10]
    LDG.E.SYS R5, [R2.64+0x10]
    STG.E.U8.SYS [R2.64+0x10], R4
    LDG.E.SYS R6, [R2.64+-0x8]
    FFMA R7, R6, R5, R0
    FADD R8, R4, R7
"""


def _share(warp: WarpProgram) -> None:
    """What the listing does."""
    lanes, pair = range(32), (2, 3)
    warp.put(0, lanes)
    warp.put(2, [4 * lane for lane in lanes])
    warp.put(3, [1] * 32)
    warp.load(4, pair, 0x10)
    warp.load(5, pair, 0x10)
    warp.store(pair, (4,), 0x10, 1)
    warp.load(6, pair, -8)
    warp.put(7, [3] * 32)
    warp.put(8, [4] * 32)


_LOAD, _STORE = 1, 2
_SHARED_SAID = (
    Said(),
    Said((0,)),
    Said(),
    Said((2, 3), access=(_LOAD, 2, 2, 0x10)),
    Said((2, 3), access=(_LOAD, 2, 2, 0x10)),
    Said((2, 3, 4), access=(_STORE, 2, 0, 0x10)),
    Said((2, 3), dead=(2, 3), access=(_LOAD, 2, 2, -8)),
    Said((6, 5, 0), dead=(6, 5, 0)),
    Said((4, 7), dead=(4, 7)),
    Said(),
)
_SHARED_COUNTS = {"misses": 1, "hits_perfect": 1, "untracked_upper": 1, "table_deletions": 1, "kills_done": 7}
SHARED = tuple(
    ExecutedExample(
        "larf", "pascal_larf", {"source_slots": slots}, _SHARED, dict(enumerate(_SHARED_SAID)), _SHARED_COUNTS, _share
    )
    for slots in (3, 2)
)

#: R1 and R3 are read once, in the first slot; R2 in two slots; R8 comes from outside and is read twice.
_LEVELS = """
    FFMA R1, R9, R10, R8
    FADD R2, R1, R11
    FFMA R3, R8, R12, R2
    FADD R4, R3, R2
"""
_LEVELS_SAID = (
    Said((9, 10, 8), suspend=True, entries={8: 2}, brings=(8,), result=4),
    Said((1, 11), entries={1: 4}, result=1),
    Said((8, 12, 2), entries={8: 2, 2: 1}, result=4),
    Said((3, 2), entries={3: 4, 2: 1}),
    Said(),
)
_LEVELS_COUNTS = {
    **{"bank_reads": 5, "bank_writes": 1, "brings": 1},
    **{"orf_reads": 3, "orf_writes": 1, "lrf_reads": 2, "lrf_writes": 2},
}
LEVELS = tuple(
    Example(
        "shrf",
        "isca2011",
        {"source_slots": slots, "active_warps": 1, "lanes": 1, "warps": 2},
        _LEVELS,
        dict(enumerate(_LEVELS_SAID)),
        _LEVELS_COUNTS,
    )
    for slots in (3, 2, 1)
)

#: Four registers, of which one is private; R3 comes from outside. They are named in the order R3, R1, R0, R2, which
#: become 0, 1, 2, 3.
_PAIRED = """
    IADD3 R1, R3, 0x2, RZ
    IADD3 R0, R3, R1, RZ
    IADD3 R3, R0, R3, RZ
    IADD3 R2, R1, R3, RZ
"""
_PAIRED_READ = ((0,), (0, 1), (2, 0), (1, 0), ())
#: In 16 places six CTAs are three pairs of 1 + 1 + 3 registers; four would fit without. Each warp reads R0 four times
#: and writes it once; it reads and writes the others three times.
_PAIRED_COUNTS = {
    **{"owners_taken": 6, "private_accesses": 6 * (4 + 1), "shared_accesses": 6 * (3 + 3), "stray_cycles": 0},
    **{"bank_reads": 6 * 7, "bank_writes": 6 * 4},
}
PAIRED = tuple(
    LaunchedExample(
        "owf",
        "tiny",
        {"private_percent": 25, "warps": 6, "ctas": 6, "rows": 8, "register_unit": 1, "source_slots": slots},
        _PAIRED,
        {at: Said(read) for at, read in enumerate(_PAIRED_READ)},
        _PAIRED_COUNTS,
        ctas=6,
    )
    for slots in (3, 2, 1)
)

#: R1 and R2 hold one word in all lanes, until two lanes of R2 are written.
_WORDS = """
    S2R R0, SR_LANEID
    MOV R1, 0x7
    IADD3 R2, R1, 0x1, RZ
    IADD3 R3, R0, R2, RZ
    ISETP.LT.AND P0, PT, R0, 0x2, PT
    @P0 IADD3 R2, R3, R1, RZ
    IADD3 R4, R2, R1, RZ
"""
_WORDS_READ = ((), (), (1,), (0, 2), (0,), (3, 1), (2, 1), ())


def _words(warp: WarpProgram) -> None:
    """What the listing does."""
    lanes = range(32)
    warp.put(0, lanes)
    warp.put(1, [7] * 32)
    warp.put(2, [8] * 32, (1,))
    warp.put(3, [lane + 8 for lane in lanes], (0, 2))
    warp.get(0)
    warp.put(2, [lane + 15 for lane in lanes], (3, 1), mask=0b11)
    warp.put(4, [lane + 22 if lane < 2 else 15 for lane in lanes], (2, 1))


#: Words are read of R1, R2, R1 and R1, by instruction; banks have R0, R0, R3, and R2 once it is expanded.
_WORDS_COUNTS = {
    **{"scalar_reads": 4, "vector_reads": 4, "scalar_writes": 2, "vector_writes": 4, "expansions": 1},
    **{"bank_reads": 8, "bank_writes": 6},
}
WORDS = tuple(
    ExecutedExample(
        "scalar",
        "tiny",
        {"source_slots": slots},
        _WORDS,
        {at: Said(read) for at, read in enumerate(_WORDS_READ)},
        _WORDS_COUNTS,
        _words,
    )
    for slots in (3, 2, 1)
)

#: A chain of additions, and a result of the SFU. R0 is in the first slot twice, R1 in the second three times.
_CHAIN = """
    IADD3 R1, R0, 0x1, RZ
    IADD3 R2, R0, R1, RZ
    IADD3 R0, R2, R1, RZ
    IADD3 R3, R1, R0, RZ
    MUFU.RCP R4, R3
    IADD3 R5, R4, R1, RZ
"""
_CHAIN_READ = ((0,), (0, 1), (2, 1), (1, 0), (3,), (4, 1), ())
#: By line: R0 by its bank; R0 hits, R1 awaits; R2 awaits, R1 hits, and R0 of the first slot is overwritten; R1, kept
#: in another slot, by its bank, R0 awaits; R3 awaits; R4 of the SFU by its bank, R1 hits.
_CHAIN_COUNTS = {
    **{"sources": 10, "source_hits": 3, "hit_beats": 3, "overwrites": 1},
    **{"source_awaits": 4, "source_lates": 0, "forwards": 4, "bank_reads": 3, "bank_writes": 6},
}
CHAIN = tuple(
    Example(
        "sticky",
        "tiny",
        {"source_slots": slots},
        _CHAIN,
        {at: Said(read) for at, read in enumerate(_CHAIN_READ)},
        _CHAIN_COUNTS,
    )
    for slots in (3, 2)
)

EXAMPLES = (*WINDOWS, *UNITS, *CACHE, *INTERVALS, *DYING, *CODED, *SHARED, *LEVELS, *PAIRED, *WORDS, *CHAIN)
