"""Facts of a listing for scripts: what ``warpfile analyze --json`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warpfile.compiler import Function, Instruction, load_listing
from warpfile.compiler.cfg import STEP, Cfg, build_cfg
from warpfile.compiler.divergence import Branch, Divergence, divergence
from warpfile.compiler.dominance import EXIT_NODE, immediate_dominators, immediate_post_dominators
from warpfile.compiler.liveness import general_registers, liveness, transfer
from warpfile.compiler.loops import natural_loops
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.reaching import reaching_definitions
from warpfile.compiler.warp_liveness import warp_liveness
from warpfile.output.display import Report, silent
from warpfile.schemes import SCHEMES, find


def analyze_listing(
    path: Path,
    only: str | None = None,
    report: Report = silent,
    schemes: Sequence[str] = (),
    preset: str = "",
    *,
    architecture: int | None = None,
) -> dict[str, Any]:
    """Control flow, live registers and hints of every function, or of one; hints as ``analyze_function`` finds them.

    ``architecture`` (90 for sm_90) chooses the code where the listing has that of several GPUs.

    Raises ``ListingError``, ``ValueError`` and ``OSError``.
    """
    report("parse")
    listing = load_listing(path, architecture)
    chosen = list(listing.functions.values()) if only is None else [listing.function(only)]
    functions = []
    for number, function in enumerate(chosen):
        report(function.name, number, len(chosen))
        functions.append(analyze_function(function, schemes, preset))
    remarks = _remarks(listing.architecture, schemes or tuple(SCHEMES), preset)
    return {"functions": functions, "warnings": [*listing.warnings, *remarks]}


def analyze_function(function: Function, schemes: Sequence[str] = (), preset: str = "") -> dict[str, Any]:
    """Everything that is known of one function, with hints of some schemes, by default of all, at a preset, by default
    each at its own; lists may be shared between instructions."""
    cfg = build_cfg(function)
    live, diverging = liveness(cfg), divergence(cfg)
    kept, reaching = warp_liveness(cfg, live, diverging), reaching_definitions(cfg)
    offsets, rows = _Offsets().of, []
    for index, instruction in enumerate(function.instructions):
        defs, uses = _general(instruction)
        row: dict[str, Any] = {
            "offset": instruction.offset,
            "opcode": instruction.full_opcode,
            "text": instruction.text,
            "defs": defs,
            "uses": uses,
            "live_in": general_registers(live.live_in[index]),
            "live_out": general_registers(live.live_out[index]),
            "warp_live_in": general_registers(kept.live_in[index]),
            "warp_live_out": general_registers(kept.live_out[index]),
            "divergent_uses": sorted(set(uses) & set(general_registers(diverging.divergent_in[index]))),
            "defined_at": {number: offsets(reaching.of(index, number)) for number in uses},
        }
        if instruction.control is not None:
            row["control"] = asdict(instruction.control)
        rows.append(row)
    found: dict[str, Any] = {"name": function.name, **_graph(cfg, diverging), "instructions": rows}
    return found | _of_schemes(function, schemes or tuple(SCHEMES), preset)


class _Offsets:
    """Offsets of instructions as lists, one for all uses that the same definitions reach: often thousands."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[tuple[int, ...], list[int]]] = {}

    def of(self, indices: tuple[int, ...]) -> list[int]:
        """The list of one tuple, by identity."""
        if id(indices) not in self._found:
            self._found[id(indices)] = indices, [STEP * at for at in indices]
        return self._found[id(indices)][1]


def _of_schemes(function: Function, schemes: Sequence[str], preset: str) -> dict[str, Any]:
    """By scheme: what its hints hold for, and each hint by the instruction's offset; and what of the listing the
    machine does not bear.
    """
    found: dict[str, dict[str, object]] = {}
    problems: dict[str, list[str]] = {}
    for name in schemes:
        scheme = find(name)
        config = scheme.configuration(preset or scheme.preset)
        hints = [part.hints for part in scheme.parts(config) if part.hints and part.hints.shown]
        shown = {name: value for one in hints for name, value in one.of_listing(function, config).items()}
        held: dict[str, object] = {"for": " ".join(one.holds_for(config) for one in hints)} if hints else {}
        found[name] = held | shown
        problems[name] = [line for one in hints for line in one.of_checks(function, config)]
    return {"hints": found, "problems": {name: lines for name, lines in problems.items() if lines}}


def _remarks(architecture: int | None, schemes: Sequence[str], preset: str) -> Iterator[str]:
    """Remarks of schemes on code for this GPU at a preset, by default each at its own."""
    for scheme in map(find, schemes):
        config = scheme.configuration(preset or scheme.preset)
        said = (part.hints.of_gpu(architecture, config) for part in scheme.parts(config) if part.hints)
        yield from (f"{one} (for {scheme.name})" for one in said if one)


def _graph(cfg: Cfg, diverging: Divergence) -> dict[str, Any]:
    """Blocks, edges and what is known of them; a block is named by the offset of its first instruction."""
    starts = [block.start * STEP for block in cfg.blocks]
    above, below = immediate_dominators(cfg), immediate_post_dominators(cfg)
    loops = natural_loops(cfg)
    return {
        "routines": [{"name": found.name, "start": found.start, "end": found.end} for found in cfg.function.routines],
        "blocks": [{"start": block.start * STEP, "end": block.end * STEP} for block in cfg.blocks],
        "edges": [[starts[source], starts[target]] for source, target in cfg.edges],
        "dominators": [[starts[block], starts[parent]] for block, parent in sorted(above.items()) if parent != block],
        "post_dominators": [
            [starts[block], None if parent == EXIT_NODE else starts[parent]] for block, parent in sorted(below.items())
        ],
        "loops": [
            {"header": starts[loop.header], "blocks": sorted(starts[block] for block in loop.blocks)} for loop in loops
        ],
        "branches": [_branch(cfg, starts, branch) for branch in diverging.branches],
    }


def _branch(cfg: Cfg, starts: list[int], branch: Branch) -> dict[str, Any]:
    """A branch: its offset, whether it is proven uniform, its sides, and the block where divergent lanes rejoin."""
    rejoin = branch.influence.rejoin
    return {
        "offset": cfg.last(cfg.blocks[branch.block]).offset,
        "uniform": branch.is_uniform,
        "sides": [starts[side] for side in branch.influence.sides],
        "rejoin": None if rejoin is None else starts[rejoin],
    }


def _general(instruction: Instruction) -> tuple[list[int], list[int]]:
    """General registers an instruction defines and uses, ascending; of an unknown opcode those it may use."""
    if not is_known(instruction.opcode):
        return [], list(general_registers(transfer(instruction).uses))
    found = effects(instruction)
    return sorted(set(found.defs)), sorted(set(found.uses))
