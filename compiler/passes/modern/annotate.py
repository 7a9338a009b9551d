"""Beats, positions and control codes as hints of a trace."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from warpfile.compiler.architectures import SHORTER, preset, remark_on_codes
from warpfile.compiler.control_codes import ControlCode
from warpfile.compiler.model import Function
from warpfile.compiler.passes.modern.code_assignment import assigned
from warpfile.compiler.passes.modern.codes import Codes, listed, of_program, shows_codes
from warpfile.compiler.passes.modern.latency_check import taken
from warpfile.compiler.passes.modern.read_positions import Placed, placed, waits_of
from warpfile.compiler.passes.trace_listing import listed_architecture, listed_function
from warpfile.compiler.program import static_instruction
from warpfile.spec.annotation import beat_counts, hinted, on_every_beat
from warpfile.spec.beat import source_groups
from warpfile.spec.config import Config
from warpfile.spec.rewrite import recast
from warpfile.spec.schemes.modern import NO_BARRIER, NOWHERE, POSITIONS, ReadWindowConfig
from warpfile.spec.trace import Port, StaticInstruction, Trace

_MOST_STALL = 15
_MOST_LEFT = 63  #: beats that a DEPBAR may leave; no counter is ever above that
_SHORT = 4  #: cycles from a producer to a reader of variable latency on newer GPUs


def label(cfg: Config) -> str:
    """What the hints hold for."""
    assert isinstance(cfg, ReadWindowConfig)
    distances = f"{cfg.fixed_distance},{cfg.variable_distance}"
    return f"dependences={cfg.dependences} reuse_cache={cfg.reuse_cache} distances={distances} for={cfg.codes_for}"


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with beats, units and hints of the read window.

    A trace with a listing has the codes of the compiler, any other codes as short as the machine allows. With a seed
    warps wait longer here and there, and operands are kept at random. ``ValueError``: a listing without codes.
    """
    assert isinstance(cfg, ReadWindowConfig)
    places = _places(trace)
    codes = _codes(cfg, trace, places)
    if loosened is not None:
        codes = _loosened(codes, loosened)
    trace = recast(trace, _changes(trace, places))
    count = beat_counts(trace, POSITIONS)
    places = [*places, *(places[static.origin] for static in trace.program[len(places) :])]
    words = on_every_beat(
        trace, [_left(cfg, one) or _words(cfg, place, one) for place, one in zip(places, trace.program, strict=True)]
    )
    note = remark(listed_architecture(trace), cfg)
    if note and note not in trace.notes:
        trace = dataclasses.replace(trace, notes=(*trace.notes, note))
    return hinted(trace, words | _coded(cfg, codes, places, trace, count))


def remark(architecture: int | None, cfg: Config) -> str | None:
    """What is to be said of code for a GPU: which preset to use, if it is not that of the configuration."""
    assert isinstance(cfg, ReadWindowConfig)
    return remark_on_codes(architecture, cfg.codes_for) if cfg.codes else None


def codes(function: Function, cfg: Config) -> Mapping[int, str]:
    """Control code of every instruction whose encoding is known, as ``warpfile analyze`` shows it."""
    assert isinstance(cfg, ReadWindowConfig)
    shown = {}
    of_listing = [one.control for one in function.instructions]
    known = [one for one in of_listing if one is not None]
    all_known = cfg.codes and len(known) == len(of_listing)
    codes = taken(function, cfg, known) if all_known else of_listing
    for instruction, code in zip(function.instructions, codes, strict=True):
        if code is not None:
            place = placed(static_instruction(instruction), instruction)
            kind = "fixed" if place.fixed else "variable" if place.variable else "beside"
            barriers = f"{_letter(code.write_barrier)}{_letter(code.read_barrier)}"
            reuse = "".join(str(at) for at in range(POSITIONS) if code.reuse >> at & 1) if place.fixed else ""
            waits = "".join(str(b) for b in range(6) if code.wait_mask >> b & 1) or "-"
            text = f"{kind} stall={code.stall}{'Y' if code.yields else ''} set={barriers} wait={waits}"
            shown[instruction.offset] = text + (f" reuse={reuse}" if reuse else "")
    return shown


def _letter(barrier: int | None) -> str:
    return "-" if barrier is None else str(barrier)


def _places(trace: Trace) -> list[Placed]:
    function = listed_function(trace)
    texts = {} if function is None else {one.offset: one for one in function.instructions}
    return [placed(static, texts.get(static.offset)) for static in trace.program]


def _codes(cfg: ReadWindowConfig, trace: Trace, places: Sequence[Placed]) -> Codes:
    if shows_codes(trace):
        return listed(trace, places, _taken(cfg, trace) if cfg.codes else of_program(trace), waits=cfg.codes)
    if trace.listing and cfg.codes:
        raise ValueError(
            f"{trace.kernel} must have control codes: make its listing with 'nvdisasm -hex FILE.cubin', or keep"
            " FILE.cubin beside it, or set dependences=scoreboard"
        )
    return assigned(cfg, trace, places)


def _taken(cfg: ReadWindowConfig, trace: Trace) -> list[ControlCode]:
    """The codes of a program as the machine takes them."""
    _check_distance(cfg, trace)
    codes, function = of_program(trace), listed_function(trace)
    if function is None:
        return codes
    at = {static.offset: index for index, static in enumerate(trace.program)}
    order = [at[one.offset] for one in function.instructions]
    for index, code in zip(order, taken(function, cfg, [codes[index] for index in order]), strict=True):
        codes[index] = code
    return codes


def _check_distance(cfg: ReadWindowConfig, trace: Trace) -> None:
    """Newer compilers promise a reader of variable latency a cycle less (docs/schemes/modern.md, section 3)."""
    architecture = listed_architecture(trace)
    if architecture is not None and architecture >= SHORTER and cfg.variable_distance > _SHORT:
        raise ValueError(
            f"{trace.kernel} is code for sm_{architecture}: its readers of variable latency come {_SHORT} ticks later"
            f" and not {cfg.variable_distance}: use --preset {preset(architecture)}, or set dependences=scoreboard"
        )


def _loosened(codes: Codes, seed: int) -> Codes:
    rng = np.random.default_rng(seed)
    count = len(codes.stall)
    longer = np.where(rng.random(count) < 0.25, rng.integers(0, 8, count), 0)
    return dataclasses.replace(
        codes,
        stall=np.minimum(codes.stall + longer, np.maximum(codes.stall, _MOST_STALL)),
        yields=codes.yields | (rng.random(count) < 0.1),
        reuse=rng.integers(0, 1 << POSITIONS, count),
    )


def _changes(trace: Trace, places: Sequence[Placed]) -> dict[int, StaticInstruction]:
    """Instructions that execute elsewhere or in other beats than the trace says."""
    changes = {}
    for index, (place, static) in enumerate(zip(places, trace.program, strict=True)):
        same = place.groups == source_groups(static, POSITIONS)
        changed = dataclasses.replace(static, port=place.port, groups=static.groups if same else place.groups)
        if changed != static:
            changes[index] = changed
    return changes


def _words(cfg: ReadWindowConfig, place: Placed, static: StaticInstruction) -> list[int]:
    """What of the hints is the same whenever an instruction executes, beat by beat."""
    words = []
    for slots in place.slots:
        word = sum(slot << 2 * at for at, slot in enumerate(slots)) << cfg.hint_at("positions")
        words.append(word | (place.port is Port.FMA) << cfg.hint_at("fma"))
    if cfg.codes:
        words[-1] |= max(0, static.dest_count - 1) << cfg.hint_at("registers")
    return words


def _left(cfg: ReadWindowConfig, static: StaticInstruction) -> list[int]:
    """Of an instruction beside, how many beats a DEPBAR.LE leaves."""
    found = waits_of(static) if cfg.codes else None
    return [] if found is None else [min(found.most, _MOST_LEFT) << cfg.hint_at("positions")]


def _coded(
    cfg: ReadWindowConfig, codes: Codes, places: Sequence[Placed], trace: Trace, count: np.ndarray
) -> np.ndarray:
    """What of the hints the codes say, one word per beat."""
    record = np.repeat(np.arange(len(count)), count)
    first = np.diff(record, prepend=-1) != 0
    last = np.diff(record, append=len(count)) != 0
    words = np.zeros(len(record), dtype=np.int64)
    if cfg.reuses:
        used = on_every_beat(trace, [_used(place) for place in places]).astype(np.int64)
        words |= (codes.reuse[record] & used) << cfg.hint_at("reuse")
    if cfg.codes:
        apart = np.array([2 if place.fixed else 1 for place in places])[trace.instruction[record]]
        words |= np.where(last, codes.stall[record], apart) << cfg.hint_at("stall")
        words |= np.where(last, codes.yields[record], 0) << cfg.hint_at("yields")
        words |= np.where(first, codes.wait[record], 0) << cfg.hint_at("wait_mask")
        for name in ("write_barrier", "read_barrier"):
            words |= np.where(last, getattr(codes, name)[record], NO_BARRIER) << cfg.hint_at(name)
    return words.astype(np.uint64)


def _used(place: Placed) -> list[int]:
    """Positions with a source, beat by beat, of what may keep an operand."""
    masks = [sum((slot != NOWHERE) << at for at, slot in enumerate(slots)) for slots in place.slots]
    return masks if place.fixed else [0] * len(masks)
