"""Loads that race with stores of other warps, and stores whose words a machine with fewer lanes would not see."""

from __future__ import annotations

import numpy as np

from warpfile.compiler.passes.shared.accesses import Accesses
from warpfile.spec.schemes.shared import LOAD
from warpfile.spec.trace import Kind, Trace

_LONGEST = 16  #: bytes per lane of an access


def racy(trace: Trace, found: Accesses) -> np.ndarray:
    """bool[n]: of the accesses, the loads of words that another warp writes without a barrier of one CTA between."""
    warp, cta, epoch = (column[found.record] for column in _places(trace))
    loads, (at, word) = found.kind == LOAD, _words(trace, found, _stores(trace, found), found.lanes)
    reader, read = _words(trace, found, loads, found.lanes)
    elsewhere = _differs(word, cta[at], read, cta[reader])
    beside, asked = _joined(np.stack((word, cta[at], epoch[at])), np.stack((read, cta[reader], epoch[reader])))
    unordered = elsewhere | _differs(beside, warp[at], asked, warp[reader])
    result = np.zeros(len(found.record), dtype=bool)
    result[reader[unordered]] = True
    return result


def hidden_conflicts(trace: Trace, found: Accesses, lanes: int) -> np.ndarray:
    """bool[n]: of the accesses, the stores that write, in a lane beyond ``lanes``, a word that a load reads in one of
    these.
    """
    built = np.arange(found.lanes.shape[1]) < lanes
    _, read = _words(trace, found, found.kind == LOAD, found.lanes & built)
    at, word = _words(trace, found, _stores(trace, found), found.lanes & ~built)
    result = np.zeros(len(found.record), dtype=bool)
    result[at[np.isin(word, read)]] = True
    return result


def _stores(trace: Trace, found: Accesses) -> np.ndarray:
    written = np.array([bool(static.access > 1) for static in trace.program], dtype=bool)
    return written[trace.instruction[found.record]]


def _words(trace: Trace, found: Accesses, chosen: np.ndarray, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every word that the chosen accesses name in these lanes, after the number of its access."""
    size = np.array([static.bytes for static in trace.program])[trace.instruction[found.record]]
    numbers, words = [], []
    for byte in range(0, _LONGEST, 4):
        at, lane = np.nonzero(lanes & (chosen & (size > byte))[:, None])
        numbers.append(at)
        words.append((found.addresses[at, lane] + np.uint64(byte)).astype(np.int64) >> 2)
    return np.concatenate(numbers), np.concatenate(words)


def _places(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per record its warp, its CTA, and how many barriers its warp passed before."""
    lengths = np.diff(trace.warp_start)
    warp = np.repeat(np.arange(trace.warps), lengths)
    barrier = np.array([static.kind == Kind.BARRIER for static in trace.program])[trace.instruction].astype(np.int64)
    before = np.cumsum(barrier) - barrier
    first = np.repeat(before[np.minimum(trace.warp_start[:-1], max(0, len(before) - 1))], lengths)
    return warp, trace.warp_cta[warp].astype(np.int64), before - first


def _joined(stored: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of both as numbers: equal ones are equal columns."""
    _, number = np.unique(np.concatenate((stored, asked), axis=1), axis=1, return_inverse=True)
    number = number.reshape(-1)
    return number[: stored.shape[1]], number[stored.shape[1] :]


def _differs(keys: np.ndarray, owners: np.ndarray, asked: np.ndarray, own: np.ndarray) -> np.ndarray:
    """bool[m]: is there an element with the key that is asked for, whose owner is another one?"""
    if not len(keys):
        return np.zeros(len(asked), dtype=bool)
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    first, last = np.searchsorted(keys, asked, "left"), np.searchsorted(keys, asked, "right") - 1
    there = first <= last
    low, high = owners[np.minimum(first, len(keys) - 1)], owners[np.maximum(last, 0)]
    return np.asarray(there & ((low != own) | (high != own)))
