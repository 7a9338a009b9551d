"""All worked examples; here those of register files, as SASS, with hints that follow from the papers by hand."""

from __future__ import annotations

from collections.abc import Mapping

from tests.schemes.collector_examples import COLLECTORS
from tests.schemes.worked_hints import VIRTUAL, Example, ExecutedExample, LaunchedExample, Said
from warpfile.spec.stress.warp_programs import WarpProgram

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

EXAMPLES = (*COLLECTORS, *CACHE, *INTERVALS, *DYING, *SHARED, *LEVELS, *PAIRED, *WORDS)
