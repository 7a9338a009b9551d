"""The fields of a beat that waits in a unit."""

from collections.abc import Mapping

from amaranth import Module, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data

from warpfile.hdl.clock_gate import take
from warpfile.hdl.rf.location import settle
from warpfile.spec.beat import dispatch_fields
from warpfile.spec.config import Config

Fields = Mapping[str, tuple[ValueLike, ValueLike]]


def dispatched(cfg: Config, out: data.View, beat: data.View) -> Fields:
    """What leaves with a beat at dispatch, per name the target in ``out`` and the value in ``beat``."""
    fields = {name: (out[name], beat[name]) for name, _ in dispatch_fields(cfg)}
    if "hints" in fields:
        fields["hints"] = (out.hints, beat.hints[: cfg.result_hint_bits])
    return fields


def hold(m: Module, cfg: Config, name: str, enable: Value, fields: Fields) -> None:
    """A register ``held_<field>`` for every field, which takes the value while ``enable`` is set. ``name`` is for their
    clock gate.

    The fields of a free unit are not read, so they need no reset.
    """
    registers = [register(m, field, target) for field, (target, _) in fields.items()]
    take(m, cfg, name, registers, (enable, [Value.cast(value) for _, value in fields.values()]))


def register(m: Module, field: str, target: ValueLike) -> Signal:
    """A register ``held_<field>`` without reset, which drives ``target``."""
    held = Signal(len(Value.cast(target)), name=f"held_{field}", reset_less=True)
    m.d.comb += Value.cast(target).eq(held)
    return held


def hold_places(m: Module, cfg: Config, enable: Value, offered: data.View, places: data.View) -> None:
    """A register for where the sources of an offered beat live, behind which their rows are added up."""
    held = Signal(offered.shape(), name="held_places", reset_less=True)
    take(m, cfg, "places", [held.as_value()], (enable, [offered.as_value()]))
    for source, place in zip(held, places, strict=True):
        settle(m, source, place)
