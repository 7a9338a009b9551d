"""The fields of a beat that waits in a unit."""

from collections.abc import Mapping

from amaranth import Module, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data

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


def hold(m: Module, enable: Value, fields: Fields) -> None:
    """A register ``held_<name>`` for every field, which takes the value while ``enable`` is set.

    Nobody looks at the fields of a free unit, so they need no reset.
    """
    for name, (target, value) in fields.items():
        register = Signal(len(Value.cast(target)), name=f"held_{name}", reset_less=True)
        m.d.comb += Value.cast(target).eq(register)
        with m.If(enable):
            m.d.sync += register.eq(value)


def hold_places(m: Module, enable: Value, offered: data.View, places: data.View) -> None:
    """A register for where the sources of an offered beat live, behind which their rows are added up."""
    held = Signal(offered.shape(), name="held_places", reset_less=True)
    with m.If(enable):
        m.d.sync += held.eq(offered)
    for source, place in zip(held, places, strict=True):
        settle(m, source, place)
