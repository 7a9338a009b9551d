"""Hints of accesses: with the registers of the trace they give its addresses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.compiler.passes.regmutex.harness import kernel
from warpfile.schemes.compose import find
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.schemes.shared import ADDRESS_BITS, FLUSH, LOAD, PLAIN, STORE
from warpfile.spec.trace import LANES, NO_ROW, Access, Port, Space, Trace
from warpfile.spec.workload import prepare

ADDRESS = (1 << ADDRESS_BITS) - 1


def prepared(name: str, **changes: object) -> tuple[Config, Trace, tuple[Beat, ...]]:
    cfg = find("larf").configuration(
        "tiny", **{"lanes": 32, "warps": 64, "rows": 1024, "banks": 4, "register_names": 128} | changes
    )
    trace = find("larf").annotated(cfg, kernel(name))
    return cfg, trace, prepare(cfg, trace).beats


def hint(cfg: Config, beat: Beat, name: str) -> int:
    bits = next(one.bits for one in cfg.hints() if one.name == name)
    return beat.hints >> cfg.hint_at(name) & (1 << bits) - 1


def wrong(cfg: Config, trace: Trace, beats: tuple[Beat, ...]) -> int:
    """Lanes of LOADs and STOREs whose address is not what registers and offset say."""
    count = 0
    for beat in beats:
        if hint(cfg, beat, "access") in (LOAD, STORE):
            halves = [trace.values[row].astype(np.int64).tolist() if row >= 0 else [0] * 32 for row in beat.expected]
            named = halves[: hint(cfg, beat, "address_registers")]
            for lane, address in enumerate(trace.addresses[trace.address_row[beat.record]].tolist()):
                value = sum(half[lane] << 32 * at for at, half in enumerate(named))
                right = value + hint(cfg, beat, "address_offset") & ADDRESS == address
                count += bool(beat.mask >> lane & 1) and not right
    return count


@pytest.mark.parametrize("name", ["conv2d", "stencil", "bfs_step", "histogram", "spmv"])
def test_registers_and_offset_give_the_address_of_every_lane(name: str) -> None:
    cfg, trace, beats = prepared(name)
    assert not wrong(cfg, trace, beats)
    assert any(hint(cfg, beat, "access") == LOAD for beat in beats)
    moved = tuple(dataclasses.replace(beat, hints=beat.hints ^ 4 << cfg.hint_at("address_offset")) for beat in beats)
    assert wrong(cfg, trace, moved)  # the check can fail


@pytest.mark.parametrize("name", ["conv2d", "spmv", "histogram"])
def test_every_change_of_global_memory_is_told_and_only_words_are_loaded(name: str) -> None:
    cfg, trace, beats = prepared(name)
    for beat in beats:
        static = trace.program[trace.instruction[beat.record]]
        kind = hint(cfg, beat, "access")
        changes = static.space == Space.GLOBAL and static.access != Access.LOAD and beat.executes and beat.first
        assert (kind in (STORE, FLUSH)) == changes, static.text
        if kind == LOAD:
            assert static.access == Access.LOAD and (static.bytes, beat.dest_count) == (4, 1)
            assert beat.result_words is not None and 1 << hint(cfg, beat, "access_size") == static.bytes
        if kind == STORE:
            assert 1 << hint(cfg, beat, "access_size") == static.bytes
        assert static.port == Port.LSU or kind == PLAIN


def test_a_seed_leaves_loads_out_and_stores_in() -> None:
    cfg, _, beats = prepared("conv2d")
    trace = find("larf").annotated(cfg, kernel("conv2d"), loosened=3)
    others = prepare(cfg, trace).beats
    pairs = [(hint(cfg, one, "access"), hint(cfg, other, "access")) for one, other in zip(beats, others, strict=True)]
    assert {(LOAD, PLAIN), (LOAD, LOAD), (STORE, STORE), (PLAIN, PLAIN)} == set(pairs)


def test_a_trace_without_values_shares_nothing() -> None:
    cfg, _, _ = prepared("conv2d")
    at, known = cfg.hint_at("access"), kernel("conv2d")
    assert (find("larf").annotated(cfg, known).hints >> at & 3).any()
    rows, values = np.full(known.records, NO_ROW), np.zeros((0, LANES), dtype=np.uint32)
    written = np.zeros(0, dtype=np.uint32)
    unknown = dataclasses.replace(known, source="accelsim", value_row=rows, values=values, written=written)
    assert not (find("larf").annotated(cfg, unknown).hints >> at & 3).any()
