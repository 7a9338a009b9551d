"""One lane of the operands of collector units."""

from collections.abc import Callable

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.rf.contract import unit_inputs
from warpfile.spec.config import Config


class CollectorLane(wiring.Component):
    """One lane of the operands of all collector units, and of the way to the execution ports.

    Members
    -------
    inputs : In(32 * inputs)             From the crossbar: one word per unit, or one per slot (``collect`` = ``all``).
    fill : In(collectors * slots)        Slots that take their unit's word at the end of the cycle.
    chosen : In(ports * collectors)      Unit presented on each port, one-hot.
    operands : Out(32 * slots * ports)   Port-major, then slot.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(_members(cfg))

    def elaborate(self, platform) -> Module:
        """Operand registers, then one AND-OR multiplexer per port and slot."""
        m = Module()
        _operands(m, self._cfg, self, lambda index: (self.fill[index], _input(self._cfg, self.inputs, index)))
        return m


class CheckedLane(wiring.Component):
    """One lane of the operands of all collector units, filled from the banks and with what is near.

    Members
    -------
    inputs, fill, chosen, operands    As in :class:`CollectorLane`.
    near_words : In(32 * source_slots)   What is near, one word per source slot.
    take : In(collectors * slots)     Slots that take their near word at the end of the cycle.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        near = {"near_words": In(32 * cfg.source_slots), "take": In(cfg.collectors * cfg.source_slots)}
        super().__init__({**_members(cfg), **near})

    def elaborate(self, platform) -> Module:
        """As in a collector lane, with one more source per register."""
        m = Module()
        _operands(m, self._cfg, self, self._next)
        return m

    def _next(self, index: int) -> tuple[Value, Value]:
        near = self.near_words.word_select(index % self._cfg.source_slots, 32)
        word = Mux(self.take[index], near, _input(self._cfg, self.inputs, index))
        return self.fill[index] | self.take[index], word


def _members(cfg: Config) -> dict[str, wiring.Member]:
    return {
        "inputs": In(32 * unit_inputs(cfg)),
        "fill": In(cfg.collectors * cfg.source_slots),
        "chosen": In(cfg.ports * cfg.collectors),
        "operands": Out(32 * cfg.source_slots * cfg.ports),
    }


def _input(cfg: Config, inputs: Value, index: int) -> Value:
    return inputs.word_select(index if cfg.collect == "all" else index // cfg.source_slots, 32)


def _operands(m: Module, cfg: Config, lane: wiring.Component, following: Callable[[int], tuple[Value, Value]]) -> None:
    """Registers of all slots, ``following`` says when and what each takes; then one multiplexer per port and slot."""
    words = []
    for index in range(cfg.collectors * cfg.source_slots):
        word = Signal(32, name=f"unit{index // cfg.source_slots}_slot{index % cfg.source_slots}", reset_less=True)
        enable, value = following(index)
        with m.If(enable):
            m.d.sync += word.eq(value)
        words.append(word)
    for port in range(cfg.ports):
        chosen = lane.chosen.word_select(port, cfg.collectors)
        for slot in range(cfg.source_slots):
            operand = lane.operands.word_select(port * cfg.source_slots + slot, 32)
            m.d.comb += operand.eq(select(chosen, words[slot :: cfg.source_slots]))
