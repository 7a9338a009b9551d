"""The decode record as a hardware structure (fields and widths: ``spec.beat.decode_fields``)."""

from amaranth import Value
from amaranth.lib import data

from warpfile.spec.beat import (
    SCHEME_PINS,
    decode_fields,
    dispatch_fields,
    kernel_fields,
    launch_fields,
    missed_fields,
    result_fields,
)
from warpfile.spec.config import Config


def beat_layout(cfg: Config) -> data.StructLayout:
    """Decode port's record; ``sources`` is an array of register names, slot 0 first."""
    fields: dict[str, object] = dict(decode_fields(cfg))
    fields["sources"] = data.ArrayLayout(cfg.register_bits, cfg.source_slots)
    return data.StructLayout(fields)


def needs_unit(beat: data.View) -> Value:
    """Whether a beat has to pass the collectors: it executes and its port is not NONE."""
    return beat.executes & ~beat.port.all()


def is_pseudo(beat: data.View) -> Value:
    """Whether a beat is a pseudo-instruction of a scheme."""
    return beat.kind == SCHEME_PINS


def kernel_layout(cfg: Config) -> data.StructLayout:
    """A kernel's start: registers per thread and the descriptor."""
    return data.StructLayout(dict(kernel_fields(cfg)))


def result_layout(cfg: Config) -> data.StructLayout:
    """One request of a write-back port without its data: a register (if ``writes``) and tokens to release."""
    return data.StructLayout(dict(result_fields(cfg)))


def launch_layout(cfg: Config) -> data.StructLayout:
    """One warp launch: slot, the warp's first place, CTA slot."""
    return data.StructLayout(dict(launch_fields(cfg)))


def missed_layout(cfg: Config) -> data.StructLayout:
    """A load that is known to miss: warp slot and destinations."""
    return data.StructLayout(dict(missed_fields(cfg)))


def completion_layout(cfg: Config) -> data.StructLayout:
    """A result that is in place: the pending bits that the scoreboard releases."""
    return data.StructLayout({"writes": 1, "warp": cfg.warp_bits, "register": cfg.register_bits, "tokens": 16})


def dispatch_layout(cfg: Config) -> data.StructLayout:
    """A beat as it leaves the collectors, without its operands."""
    return data.StructLayout(dict(dispatch_fields(cfg)))
