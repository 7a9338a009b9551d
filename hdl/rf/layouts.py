"""Records at the ports of a register file: places, lengths of accesses, and how many words reach the units."""

from amaranth.lib import data

from warpfile.spec.config import Config, index_bits


def location_layout(cfg: Config) -> data.StructLayout:
    """Place of one warp register: ``bank``, ``row`` in it, and with ``gives.absent`` whether it has none."""
    absent = {"absent": 1} if cfg.gives.absent else {}
    return data.StructLayout({"bank": index_bits(cfg.read_banks), "row": index_bits(cfg.read_rows), **absent})


def places_layout(cfg: Config, count: int) -> data.ArrayLayout:
    """Array of ``count`` places."""
    return data.ArrayLayout(location_layout(cfg), count)


def offered_layout(cfg: Config) -> data.StructLayout:
    """Place of a source of the offered beat. Its row is ``base`` + ``offset`` + ``carry``
    (:func:`hdl.rf.location.settle`). The offered beat is known late in the cycle, and units need the row one cycle
    later, so the sum is not computed here."""
    place = {name: field.shape for name, field in location_layout(cfg)}
    offset = index_bits(-(-cfg.register_names // cfg.banks))
    return data.StructLayout({"base": place.pop("row"), "offset": offset, "carry": 1, **place})


def lengths_layout(cfg: Config, count: int) -> data.ArrayLayout:
    """Cycles that each of ``count`` accesses takes."""
    return data.ArrayLayout(cfg.gives.cycles.bit_length(), count)


def unit_inputs(cfg: Config) -> int:
    """Words per lane that reach units in a cycle: one per unit, or one per slot where all may be filled at once."""
    return cfg.asks.units * (cfg.asks.slots if cfg.collect == "all" else 1)
