"""The worked examples of collectors as SASS, with the hints that follow from the papers, written down by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.compiler.passes.modern.coded import EXAMPLE
from tests.schemes.worked_hints import NOWHERE, Code, CodedExample, Example, Said

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

COLLECTORS = (*WINDOWS, *UNITS, *CODED, *CHAIN)
