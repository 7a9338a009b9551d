"""Programs with values, metadata and kill bits, written by hand or made of others, and runs of the packed file."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.golden.machines import Packed, layout_of
from tests.golden.rf.ltrf.scenario import dead_sources
from tests.golden.scenario import FULL, NOP, Run, hand_trace, op
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.beat import source_groups
from warpfile.spec.environment import Environment
from warpfile.spec.rewrite import Insertion, rewritten
from warpfile.spec.schemes.packed import CHUNK, PAIRS, PackedConfig
from warpfile.spec.trace import LANES, Drain, Kind, Port, StaticInstruction, Trace
from warpfile.spec.workload import prepare

NAMES = ("virtualization", "packing", "packing_virtual", "first_fit", "first_fit_virtual")
NAMES += ("corf_single", "corf_plus_single", "corf", "corf_virtual", "corf_plus", "corf_plus_virtual")

#: A value for every size.
OF_SIZE = {1: 5, 2: 0x1234, 3: 0x345678, 4: 0x56789ABC}

#: An instruction, the lanes that execute it, and what it writes: a value for all lanes, or one for each register.
Valued = tuple[StaticInstruction, int, int | Sequence[int]]


def make(scheme: str = "packing", **changes: Any) -> PackedConfig:
    """The ``tiny`` preset with four warps, three ports and units of three sources, unless ``changes`` say otherwise."""
    small = {"warps": 4, "lanes": 4, "source_slots": 3, "rows": 64, "alu_latency": 3, "register_names": 16}
    cfg = find(scheme).configuration("tiny", **small | changes)
    assert isinstance(cfg, PackedConfig)
    return cfg


def put(dest: int, value: int | Sequence[int], mask: int = FULL, sources: tuple[int, ...] = (), **more: Any) -> Valued:
    """An instruction that writes this."""
    count = {} if isinstance(value, int) else {"dest_count": len(value)}
    return op(sources, dest, **count, **more), mask, value


def get(*sources: int, **more: Any) -> Valued:
    """An instruction that reads and writes nothing."""
    return op(sources, **more), FULL, 0


def nops(count: int) -> list[Valued]:
    """So many cycles of waiting, or more."""
    return [(NOP, FULL, 0)] * count


def valued(*warps: Sequence[Valued], **fields: Any) -> Trace:
    """A trace of these warps."""
    rows = [row for warp in warps for step in warp if step[1] for row in _rows(step)]
    values = np.array(rows, dtype=np.uint32).reshape(-1, LANES)
    return hand_trace(*[[step[:2] for step in warp] for warp in warps], **{"values": values} | fields)


def _rows(step: Valued) -> Iterable[list[int]]:
    static, _, value = step
    for number in range(static.dest_count):
        yield [value if isinstance(value, int) else value[number]] * LANES


def pseudo(operand: int) -> StaticInstruction:
    """The pseudo-instruction with this operand."""
    values: dict[str, Any] = {"port": Port.NONE, "kind": Kind.SCHEME, "text": "TELL", "drain": Drain.NONE}
    return op(operand=operand, inserted=True, **values)


def pairs(cfg: PackedConfig, *named: tuple[int, int]) -> StaticInstruction:
    """Metadata of up to four pairs, the first one in the lowest bits."""
    filled = [*named, *[(0, 0)] * (PAIRS - len(named))]
    size = cfg.register_bits
    return pseudo(sum((one | other << size) << 2 * size * number for number, (one, other) in enumerate(filled)))


def sides(chunk: int, codes: Mapping[int, int]) -> StaticInstruction:
    """Metadata of the sides of a chunk's registers."""
    first = chunk * CHUNK
    return pseudo(chunk << 2 * CHUNK | sum(code << 2 * (register - first) for register, code in codes.items()))


def tell(static: StaticInstruction) -> Valued:
    """A pseudo-instruction among the others."""
    return static, FULL, 0


def killing(cfg: PackedConfig, trace: Trace, *dead: tuple[int, int]) -> Trace:
    """The trace with kill bits for these beats and source slots."""
    beats = sum(len(source_groups(trace.program[index], cfg.source_slots)) for index in trace.instruction.tolist())
    words = np.zeros(beats, dtype=np.uint32)
    for beat, slot in dead:
        words[beat] |= 1 << slot << cfg.hint_at("kill")
    return dataclasses.replace(trace, annotation="test", hints=words)


def hinted(cfg: PackedConfig, trace: Trace, rng: random.Random | None = None) -> Trace:
    """The trace with a kill bit where no later instruction of the warp reads a register; ``rng`` leaves some out."""
    if not cfg.virtualization:
        return trace
    dead, found, beat = dead_sources(trace), [], 0
    for record, index in enumerate(trace.instruction.tolist()):
        static = trace.program[index]
        for sources in source_groups(static, cfg.source_slots):
            last = dead[record] - set(static.dests)
            found += [(beat, slot) for slot, r in enumerate(sources) if r in last and (not rng or rng.random() < 0.8)]
            beat += 1
    return killing(cfg, trace, *found)


def told(cfg: PackedConfig, trace: Trace, rng: random.Random) -> Trace:
    """The trace with random metadata at the beginning of every warp, contradicting ones too."""
    if not cfg.operand_bits:
        return trace
    insertions = []
    for start in trace.warp_start[:-1].tolist():
        for _ in range(rng.randint(0, 2)):
            insertions.append(Insertion(start, _random_metadata(cfg, trace.registers, rng)))
    return rewritten(trace, insertions)


def _random_metadata(cfg: PackedConfig, registers: int, rng: random.Random) -> StaticInstruction:
    if cfg.allocation == "pairs":
        return pairs(cfg, *[(rng.randrange(registers), rng.randrange(registers)) for _ in range(PAIRS)])
    chunk = rng.randrange(cfg.chunks)
    codes = {register: rng.randrange(4) for register in range(chunk * CHUNK, min((chunk + 1) * CHUNK, 64))}
    return sides(chunk, codes)


def run_packed(cfg: PackedConfig, trace: Trace, model: type[Packed] = Packed, limit: int = 20_000) -> Run:
    """Simulate a trace to its end."""
    layout = layout_of("corf", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def places(cfg: PackedConfig, result: Run, port: int = 0) -> list[tuple[int, int, int, int]]:
    """Decision, bank, row and mask of every result of a port that left W0, in order."""
    found = []
    for f in result.fields:
        code = f["decision"] >> 3 * port & 7
        if code:
            word = f["target"] >> cfg.mapping_bits * port
            bank, row = word & (1 << cfg.bank_bits) - 1, word >> cfg.bank_bits & (1 << cfg.row_bits) - 1
            found.append((code, bank, row, word >> cfg.bank_bits + cfg.row_bits & 15))
    return found
