"""What every lane of collector units has: registers for operands, and the way to the execution ports."""

from collections.abc import Callable

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.rf.layouts import unit_inputs
from warpfile.spec.config import Config


def lane_members(cfg: Config) -> dict[str, wiring.Member]:
    """Ports of one lane of the operands of collector units, and of the way to the execution ports.

    inputs : In(32 * inputs)             From the crossbar: one word per unit, or one per slot (``collect`` = ``all``).
    fill : In(collectors * slots)        Slots that take their unit's word at the end of the cycle.
    chosen : In(ports * collectors)      Unit presented on each port, one-hot.
    operands : Out(32 * slots * ports)   Port-major, then slot.
    """
    return {
        "inputs": In(32 * unit_inputs(cfg)),
        "fill": In(cfg.collectors * cfg.source_slots),
        "chosen": In(cfg.ports * cfg.collectors),
        "operands": Out(32 * cfg.source_slots * cfg.ports),
    }


def lane_input(cfg: Config, inputs: Value, index: int) -> Value:
    """Word that a slot is filled with."""
    return inputs.word_select(index if cfg.collect == "all" else index // cfg.source_slots, 32)


def hold_operands(
    m: Module, cfg: Config, lane: wiring.Component, following: Callable[[int], tuple[Value, Value]]
) -> None:
    """Registers of all slots, ``following`` says when and what each takes; then one multiplexer per port and slot."""
    words = []
    for index in range(cfg.collectors * cfg.source_slots):
        word = Signal(32, name=f"unit{index // cfg.source_slots}_slot{index % cfg.source_slots}", reset_less=True)
        enable, value = following(index)
        take(m, cfg, word.name, [word], (enable, [value]))
        words.append(word)
    for port in range(cfg.ports):
        chosen = lane.chosen.word_select(port, cfg.collectors)
        for slot in range(cfg.source_slots):
            operand = lane.operands.word_select(port * cfg.source_slots + slot, 32)
            m.d.comb += operand.eq(select(chosen, words[slot :: cfg.source_slots]))
