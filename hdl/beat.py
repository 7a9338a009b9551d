"""The decode record as a hardware structure (fields and widths: ``spec.beat.decode_fields``)."""

from amaranth.lib import data

from spec.beat import decode_fields
from spec.config import Config


def beat_layout(cfg: Config) -> data.StructLayout:
    """Decode port's record; ``sources`` is an array of register names, slot 0 first."""
    fields: dict[str, object] = dict(decode_fields(cfg))
    fields["sources"] = data.ArrayLayout(cfg.register_bits, cfg.source_slots)
    return data.StructLayout(fields)


def result_layout(cfg: Config) -> data.StructLayout:
    """One request of a write-back port without its data: a register (if ``writes``) and tokens to release."""
    return data.StructLayout(
        {
            "writes": 1,
            "warp": cfg.warp_bits,
            "register": cfg.register_bits,
            "tokens": 16,
            "mask": cfg.lanes,
        }
    )


def launch_layout(cfg: Config) -> data.StructLayout:
    """One warp launch: slot, first row of the warp in every bank, CTA slot."""
    return data.StructLayout({"warp": cfg.warp_bits, "base_row": cfg.row_bits, "cta": cfg.cta_bits})


def dispatch_layout(cfg: Config) -> data.StructLayout:
    """A beat as it leaves the operand stage, without its operands."""
    return data.StructLayout(
        {
            "warp": cfg.warp_bits,
            "dest": cfg.register_bits,
            "dest_count": 3,
            "mask": cfg.lanes,
            "payload": cfg.payload_bits,
        }
    )
