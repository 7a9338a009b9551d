"""Facts of a listing for scripts: what ``warpfile analyze --json`` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compiler import Function, Instruction, load_listing
from compiler.cfg import STEP, Cfg, build_cfg
from compiler.liveness import Liveness, general_registers, liveness, transfer
from compiler.opcodes import is_known
from compiler.operands import effects
from warpfile.schemes import SCHEMES


def analyze_listing(path: Path) -> dict[str, Any]:
    """Control flow, live registers and hints of every function. Raises ``ListingError`` and ``OSError``."""
    return {"functions": [_function(function) for function in load_listing(path).functions.values()]}


def _function(function: Function) -> dict[str, Any]:
    cfg = build_cfg(function)
    starts = [block.start * STEP for block in cfg.blocks]
    return {
        "name": function.name,
        "blocks": [{"start": block.start * STEP, "end": block.end * STEP} for block in cfg.blocks],
        "edges": [[starts[source], starts[target]] for source, target in cfg.edges],
        "instructions": _instructions(cfg, liveness(cfg)),
        "hints": {
            name: {hint: compute(function) for hint, compute in scheme.passes.items()}
            for name, scheme in SCHEMES.items()
        },
    }


def _instructions(cfg: Cfg, live: Liveness) -> list[dict[str, Any]]:
    rows = []
    for index, instruction in enumerate(cfg.function.instructions):
        defs, uses = _general(instruction)
        rows.append(
            {
                "offset": instruction.offset,
                "opcode": instruction.full_opcode,
                "defs": defs,
                "uses": uses,
                "live_in": list(general_registers(live.live_in[index])),
                "live_out": list(general_registers(live.live_out[index])),
            }
        )
    return rows


def _general(instruction: Instruction) -> tuple[list[int], list[int]]:
    """General registers an instruction defines and uses, ascending; of an unknown opcode those it may use."""
    if not is_known(instruction.opcode):
        return [], list(general_registers(transfer(instruction).uses))
    found = effects(instruction)
    return sorted(set(found.defs)), sorted(set(found.uses))
