"""What passes between the parts of the partitioned file."""

from amaranth.lib import data

from warpfile.spec.schemes.pilot import COUNT_BITS, PilotConfig


def pair_layout(cfg: PilotConfig) -> data.StructLayout:
    """Two registers that change homes: one of the fast part, and one of the slow."""
    return data.StructLayout({"fast": cfg.register_bits, "slow": cfg.register_bits})


def hot_layout(cfg: PilotConfig) -> data.ArrayLayout:
    """A list of hot registers; places that are not valid stand for none."""
    return data.ArrayLayout(data.StructLayout({"valid": 1, "register": cfg.register_bits}), cfg.fast_registers)


def sorted_layout(cfg: PilotConfig) -> data.ArrayLayout:
    """Slots of the sorter, the largest count first."""
    slot = data.StructLayout({"valid": 1, "register": cfg.register_bits, "count": COUNT_BITS})
    return data.ArrayLayout(slot, cfg.fast_registers)
