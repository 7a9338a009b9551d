"""Whether the control codes of a listing cover the latencies of a machine, over all paths, before anything runs.

What has a fixed latency on the GPU that the code is for, and a variable one here, has no dependence counter in the
code. It gets one, and who needs its results or its sources waits for it (docs/schemes/modern.md, section 5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from warpfile.compiler.cfg import STEP
from warpfile.compiler.control_codes import ControlCode
from warpfile.compiler.model import Function
from warpfile.compiler.passes.modern.paths import SEEN, Finding, findings
from warpfile.compiler.program import static_instruction
from warpfile.spec.config import Config
from warpfile.spec.schemes.modern import BARRIERS, ReadWindowConfig
from warpfile.spec.trace import Port

#: Units whose latency is fixed on some GPUs: that of tensor cores since sm_80, of double precision on sm_90 and sm_100.
_FIXED_THERE = (Port.TENSOR, Port.DOUBLE)
#: An instruction whose latency is fixed on sm_100.
_FIXED_ALONE = "R2UR"


def uncovered(function: Function, cfg: Config) -> tuple[Finding, ...]:
    """Everything that comes too early on some path, by offset; nothing of a listing that shows no codes."""
    assert isinstance(cfg, ReadWindowConfig)
    codes = [one.control for one in function.instructions if one.control is not None]
    if not cfg.codes or len(codes) < len(function.instructions):
        return ()
    return tuple(sorted(findings(function, cfg, taken(function, cfg, codes))))


def lines(function: Function, cfg: Config) -> list[str]:
    """A line for everything that comes too early, as ``warpfile analyze`` shows it."""
    return [str(one) for one in uncovered(function, cfg)]


def taken(function: Function, cfg: ReadWindowConfig, codes: Sequence[ControlCode]) -> tuple[ControlCode, ...]:
    """The codes of a function's instructions as the machine takes them."""
    codes, uncounted = list(codes), _uncounted(function, codes)
    if not uncounted:
        return tuple(codes)
    uses = Counter(one for code in codes for one in (code.write_barrier, code.read_barrier))
    results, sources = sorted(range(BARRIERS), key=lambda one: (uses[one], one))[:2]
    for index in uncounted:
        barrier = results if static_instruction(function.instructions[index]).dest_count else None
        stall = max(codes[index].stall, SEEN)
        codes[index] = replace(codes[index], stall=stall, write_barrier=barrier, read_barrier=sources)
    while waits := _waits(codes, uncounted, findings(function, cfg, codes), results, sources):
        for index, mask in waits.items():
            codes[index] = replace(codes[index], wait_mask=codes[index].wait_mask | mask)
    return tuple(codes)


def _uncounted(function: Function, codes: Sequence[ControlCode]) -> frozenset[int]:
    """Instructions of units none of whose results has a counter, though their latency varies here."""
    statics = [static_instruction(one) for one in function.instructions]
    found: set[int] = set()
    for unit in _FIXED_THERE:
        own = [index for index, one in enumerate(statics) if one.port is unit]
        counters = [codes[index].write_barrier for index in own if statics[index].dest_count]
        if counters and all(one is None for one in counters):
            found.update(own)
    alone = [index for index, one in enumerate(function.instructions) if one.opcode == _FIXED_ALONE]
    if all(codes[index].write_barrier is None and codes[index].read_barrier is None for index in alone):
        found.update(alone)
    return frozenset(found)


def _waits(
    codes: Sequence[ControlCode], uncounted: Collection[int], found: Collection[Finding], results: int, sources: int
) -> dict[int, int]:
    """Waits that instructions lack, by index: for the results of what has got a counter, or until it has read."""
    masks: dict[int, int] = {}
    for one in found:
        index, mask = one.at // STEP, 1 << (sources if one.unread else results)
        if one.before // STEP in uncounted and not codes[index].wait_mask & mask:
            masks[index] = masks.get(index, 0) | mask
    return masks
