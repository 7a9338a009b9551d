"""Write classes of BOW-WR: where a result has to go so that its readers find it.

H. Asghari Esfeden, dissertation, UC Riverside 2021, section 3.4.2. A window keeps the registers that a warp has touched
in its last ``window`` beats. A result may live there only (transient), in the register file only, in both, or nowhere.

Deviations: distances are counted in beats, because that is what enters a window. The classes hold for the
``source_slots`` that cut instructions into beats, and for the window they were made for or any longer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.divergence import divergence
from warpfile.compiler.liveness import (
    EVERYTHING,
    Transfer,
    compose,
    general_registers,
    goes_anywhere,
    liveness,
    named,
    solve,
)
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.bow.hazards import hazard_points, lost_returns, torn_blocks
from warpfile.compiler.program import static_instruction
from warpfile.spec.beat import source_groups

REGISTER_FILE = 1  #: class bit: write the register file
WINDOW = 2  #: class bit: write the window


def write_classes(function: Function, *, window: int, source_slots: int, any_progress: bool = False) -> dict[int, int]:
    """Class of every instruction with general-register destinations, by offset.

    ``WINDOW``: it is read, or partly overwritten, while it is still in the window. ``REGISTER_FILE``: a read may come
    when it is no longer there. A wide result gets the union over its registers. Without ``any_progress`` the lanes of a
    diverged warp are taken to change at hazard points only (``hazards.py``), as the emulator does it.
    """
    if window < 1 or source_slots < 1:
        raise ValueError(f"window and source_slots must be at least 1, not {window} and {source_slots}")
    cfg = build_cfg(function)
    steps = tuple(_steps(cfg, source_slots, any_progress))
    walk = _Walk(steps, _asked_later(cfg, steps), window)
    return {
        instruction.offset: walk.write_class(index)
        for index, instruction in enumerate(function.instructions)
        if walk.steps[index].writes
    }


@dataclass(frozen=True)
class _Step:
    """One instruction as the walk sees it.

    ``reads`` has the beat of every source; destinations are accessed in the last of ``beats``. ``lost`` are registers
    that a reader which the walk cannot find may read, ``live`` those live behind the instruction.
    """

    beats: int
    reads: dict[int, int]
    writes: tuple[int, ...]
    is_guarded: bool
    overwrites: bool  #: its destinations keep nothing of the previous definition, in no lane
    is_hazard: bool
    lost: int
    live: int
    successors: tuple[int, ...]


def _steps(cfg: Cfg, source_slots: int, any_progress: bool) -> Iterator[_Step]:
    found = divergence(cfg)
    hazards, torn = hazard_points(cfg, found, any_progress), torn_blocks(cfg, found)
    returns, successors = lost_returns(cfg), _successors(cfg)
    # Behind a return to an unknown place everything may be live, which liveness does not assume.
    live = (EVERYTHING,) * len(successors) if returns else liveness(cfg).live_out
    for index, instruction in enumerate(cfg.function.instructions):
        groups, writes = _operands(instruction, source_slots)
        yield _Step(
            beats=len(groups),
            reads={register: beat for beat, group in enumerate(groups) for register in group},
            writes=writes,
            is_guarded=instruction.is_guarded,
            overwrites=not instruction.is_guarded and cfg.block_of[index] not in torn,
            is_hazard=index in hazards,
            lost=EVERYTHING if index in returns else _lost(instruction),
            live=live[index],
            successors=successors[index],
        )


def _asked_later(cfg: Cfg, steps: Sequence[_Step]) -> list[int]:
    """Registers whose value, out of every window, an instruction or what follows asks of the register file.

    Least solution of ``in = asks | (in of the successors) & goes_on``, backward.
    """
    transfers = [_out_of_window(step) for step in steps]
    outs = solve([compose(transfers[block.start : block.end]) for block in cfg.blocks], cfg.flow_successors)
    asked = [0] * len(steps)
    for block in cfg.blocks:
        state = outs[block.index]
        for index in reversed(block.instructions):
            state = transfers[index].uses | state & ~transfers[index].kills
            asked[index] = state
    return asked


def _out_of_window(step: _Step) -> Transfer:
    """What a step asks of the register file, and where paths end, if the value is in no window."""
    reads, writes = (sum(1 << register for register in registers) for registers in (step.reads, step.writes))
    asks = step.lost | reads | (0 if step.overwrites else writes)
    return Transfer(asks, EVERYTHING & ~step.live | step.lost | reads | writes)


def _successors(cfg: Cfg) -> list[tuple[int, ...]]:
    """Instructions that may come next, callees and callers included."""
    count = len(cfg.function.instructions)
    found: list[tuple[int, ...]] = [(index + 1,) for index in range(count)]
    for block in cfg.blocks:
        found[block.end - 1] = ()
    for source, target in cfg.flow_edges:
        found[cfg.blocks[source].end - 1] += (cfg.blocks[target].start,)
    return found


def _operands(instruction: Instruction, source_slots: int) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Sources by beat and destinations. An opaque opcode may write whatever it names."""
    if not is_known(instruction.opcode):
        return ((),), general_registers(named(instruction))
    static = static_instruction(instruction)
    return source_groups(static, source_slots), static.dests


def _lost(instruction: Instruction) -> int:
    """Registers that code outside of the listing, or an unknown opcode, may read."""
    if goes_anywhere(instruction):
        return EVERYTHING
    return 0 if is_known(instruction.opcode) else named(instruction)


@dataclass(frozen=True)
class _Walk:
    """Follows the chain of accesses behind a definition along all paths.

    A state of the walk is (instruction, beats since the register was accessed last). A count of ``window`` stands for
    everything beyond, and for a value that a hazard may have pushed out: an access there finds the register file only.
    """

    steps: tuple[_Step, ...]
    asked_later: list[int]  #: registers that are asked of the register file from an instruction on
    window: int

    def write_class(self, index: int) -> int:
        """Union over the destination registers."""
        step = self.steps[index]
        # Lanes that skip the instruction keep the old value, which the window may have lost when the result comes.
        found = REGISTER_FILE if step.is_guarded or step.lost else 0
        for register in step.writes:
            if found != WINDOW | REGISTER_FILE and step.live >> register & 1:
                found |= self._chain(index, register)
        return found | (WINDOW if step.lost else 0)

    def _chain(self, index: int, register: int) -> int:
        found = 0
        work = [(successor, min(1, self.window)) for successor in self.steps[index].successors]
        seen = set(work)
        while work and found != WINDOW | REGISTER_FILE:
            at, distance = work.pop()
            if distance >= self.window:
                found |= REGISTER_FILE if self.asked_later[at] >> register & 1 else 0
                continue
            asked, onward = self._access(self.steps[at], register, distance)
            found |= asked
            if onward is None:
                continue
            for successor in self.steps[at].successors:
                state = successor, min(onward, self.window)
                if state not in seen:
                    seen.add(state)
                    work.append(state)
        return found

    def _access(self, step: _Step, register: int, distance: int) -> tuple[int, int | None]:
        """What an instruction asks of the class, and the distance behind it; None where the path ends.

        ``distance`` is that of its first beat.
        """
        found = 0
        if step.is_hazard:
            distance = self.window
        if step.lost >> register & 1:
            return REGISTER_FILE, None
        onward = distance + step.beats
        if register in step.reads:
            beat = step.reads[register]
            if distance + beat >= self.window:
                return REGISTER_FILE, None
            found = WINDOW
            # No lane may execute a guarded reader, and then it does not keep the value in the window.
            if not step.is_guarded:
                onward = step.beats - beat
        if register in step.writes:
            if step.overwrites:
                return found, None
            # The result may come late, or not at all: the other lanes' value must be in the register file by then.
            return found | REGISTER_FILE | (WINDOW if onward - 1 < self.window else 0), None
        return found, onward if step.live >> register & 1 else None
