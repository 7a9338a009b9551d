"""Levels and beginnings on the beats of a trace."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from warpfile.compiler.cfg import STEP
from warpfile.compiler.model import Function
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.shrf.allocation import Levels, Room, allocated
from warpfile.compiler.passes.shrf.listing import flow_of
from warpfile.compiler.passes.shrf.stream import strands_of
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.compiler.program import static_instruction
from warpfile.spec.annotation import hinted, on_every_beat
from warpfile.spec.beat import source_groups
from warpfile.spec.config import Config
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.trace import StaticInstruction, Trace


def label(cfg: Config) -> str:
    """What the hints hold for."""
    assert isinstance(cfg, ShrfConfig)
    places = "" if cfg.has_places else " without places"
    return f"orf_entries={cfg.orf_entries} lrf={cfg.lrf} source_slots={cfg.source_slots}{places}"


def room_of(cfg: ShrfConfig) -> Room:
    """The entries of a place."""
    return Room(cfg.orf_entries, cfg.lrf_entries, cfg.lrf == "split", cfg.source_slots)


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with all hints: from the listing, or without one (or with a seed) from the stream itself."""
    assert isinstance(cfg, ShrfConfig)
    function = listed_function(trace)
    if function is None or loosened is not None:
        return hinted(trace, _by_stream(cfg, trace, loosened))
    flow = flow_of(function)
    levels = allocated(flow, room_of(cfg))
    words = []
    for static in trace.program:
        index = static.offset // STEP
        words.append(_words(cfg, static, index in flow.begins, levels, index))
    return hinted(trace, on_every_beat(trace, words))


def _by_stream(cfg: ShrfConfig, trace: Trace, loosened: int | None) -> np.ndarray:
    rng = None if loosened is None else random.Random(f"{loosened} {trace.kernel} {trace.records}")
    words: list[int] = []
    for first, flow in strands_of(trace, rng):
        levels = allocated(flow, room_of(cfg), rng)
        for index in range(len(flow.steps) - 1):
            static = trace.program[trace.instruction[first + index]]
            words += _words(cfg, static, index == 0, levels, index)
    return np.array(words, dtype=np.uint64)


def _words(cfg: ShrfConfig, static: StaticInstruction, begins: bool, levels: Levels, index: int) -> list[int]:
    """One word per beat of an instruction."""
    reads, brings = levels.reads.get(index, {}), levels.brings.get(index, {})
    words, slot = [], 0
    for group in source_groups(static, cfg.source_slots):
        word = 0
        for own in range(len(group)):
            word |= _source(cfg, own, reads.get(slot), brings.get(slot))
            slot += 1
        words.append(word)
    if cfg.has_places:
        words[0] |= begins << cfg.hint_at("suspend")
    if index in levels.results:
        entry, skipped = levels.results[index]
        words[-1] |= entry + 1 << cfg.hint_at("result_entry") | skipped << cfg.hint_at("mrf_skipped")
    return words


def _source(cfg: ShrfConfig, slot: int, read: int | None, bring: int | None) -> int:
    """Hints of a source slot of a beat."""
    entry = read if bring is None else bring
    if entry is None:
        return 0
    value = min(entry, cfg.orf_entries) + 1
    word = value << cfg.hint_at("source_entry") + slot * cfg.source_entry_bits
    return word if bring is None else word | 1 << cfg.hint_at("bring") + slot


def shown(function: Function, cfg: Config) -> Mapping[int, tuple[int, tuple[int, ...], tuple[int, ...], int, int]]:
    """By offset: begins; by source its entry, counted from 1 (0: main file); sources that bring; the result's entry
    likewise, and whether it skips the main file.
    """
    assert isinstance(cfg, ShrfConfig)
    flow = flow_of(function)
    levels = allocated(flow, room_of(cfg))
    found = {}
    for index, instruction in enumerate(function.instructions):
        if not is_known(instruction.opcode):
            continue
        reads, brings = levels.reads.get(index, {}), levels.brings.get(index, {})
        slots = range(len(flow.steps[index].sources))
        entry, skipped = levels.results.get(index, (-1, False))
        begins = index in flow.begins
        if begins or reads or brings or entry >= 0:
            sources = tuple((reads | brings).get(slot, -1) + 1 for slot in slots)
            found[static_instruction(instruction).offset] = (
                int(begins),
                sources,
                tuple(slot for slot in slots if slot in brings),
                entry + 1,
                int(skipped),
            )
    return found
