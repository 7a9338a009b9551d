"""What every access does to the address table, as hints of a trace."""

from __future__ import annotations

import dataclasses

import numpy as np

from warpfile.compiler.passes.shared.accesses import Accesses, accesses, kind_of, sent
from warpfile.compiler.passes.shared.races import hidden_conflicts, racy
from warpfile.spec.annotation import beat_counts, hinted
from warpfile.spec.config import Config
from warpfile.spec.schemes.shared import FLUSH, LOAD, PLAIN, STORE, SharedConfig
from warpfile.spec.trace import Trace

_WARNED = "global loads read words that other warps write without order: they are not shared"


def label(cfg: Config) -> str:
    """What the hints hold for."""
    return f"source_slots={cfg.source_slots} lanes={cfg.lanes}"


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with the hints of all accesses; with a seed some loads are not shared. A note tells of races.

    Fences beyond the CTA go to the LSU and end all entries. Without values nothing is known of addresses: all accesses
    are PLAIN.
    """
    assert isinstance(cfg, SharedConfig)
    if not trace.has_values:
        return hinted(trace, np.zeros(int(beat_counts(trace, cfg.source_slots).sum()), dtype=np.uint64))
    trace = dataclasses.replace(trace, program=tuple(map(sent, trace.program)))
    found = accesses(trace)
    loads, races = int((found.kind == LOAD).sum()), racy(trace, found)
    found.kind[races] = PLAIN
    found.kind[hidden_conflicts(trace, found, cfg.lanes)] = FLUSH
    if loosened is not None:
        rng = np.random.default_rng(loosened)
        found.kind[(found.kind == LOAD) & (rng.random(len(found.kind)) < 0.25)] = PLAIN
    notes = [note for note in trace.notes if not note.endswith(_WARNED)]
    if races.any():
        notes.append(f"{races.sum()} of {loads} {_WARNED}")
    return hinted(dataclasses.replace(trace, notes=tuple(notes)), _words(cfg, trace, found))


def _words(cfg: SharedConfig, trace: Trace, found: Accesses) -> np.ndarray:
    """One word per beat: what is known of an access stands on the first beat of its instruction."""
    kinds = np.array([kind_of(static) for static in trace.program])[trace.instruction]
    words = _placed(cfg, "access", np.where((kinds == STORE) | (kinds == FLUSH), FLUSH, PLAIN))
    sizes = np.array([max(0, static.bytes.bit_length() - 1) for static in trace.program])
    known = (found.kind == LOAD) | (found.kind == STORE)
    words[found.record] = _placed(cfg, "access", found.kind)
    values = {
        "address_registers": found.registers,
        "access_size": sizes[trace.instruction[found.record]],
        "address_offset": found.offset,
    }
    for name, value in values.items():
        words[found.record] |= _placed(cfg, name, np.where(known, value, 0))
    count = beat_counts(trace, cfg.source_slots)
    hints = np.zeros(int(count.sum()), dtype=np.uint64)
    hints[np.cumsum(count) - count] = words
    return hints


def _placed(cfg: Config, name: str, values: np.ndarray) -> np.ndarray:
    return values.astype(np.uint64) << np.uint64(cfg.hint_at(name))
