"""Records at the ports of a register file: places, lengths of accesses, and how many words reach the units."""

from amaranth import Value
from amaranth.lib import data

from warpfile.spec.config import Config, index_bits


def location_layout(cfg: Config) -> data.StructLayout:
    """Place of one warp register: ``bank``, ``row`` in it, with ``gives.absent`` whether it has none, and with
    ``gives.twins`` whether it is in the bank's twin."""
    more = {name: 1 for name, has in (("absent", cfg.gives.absent), ("twin", cfg.gives.twins)) if has}
    return data.StructLayout({"bank": index_bits(cfg.read_banks), "row": index_bits(cfg.read_rows), **more})


def is_in(cfg: Config, place: data.View, bank: int) -> Value:
    """Whether a place is in this bank. With ``gives.twins`` those from ``banks`` on are the twins."""
    if not cfg.gives.twins:
        return place.bank == bank
    twin, number = divmod(bank, cfg.banks)
    return (place.bank == number) & (place.twin == twin)


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
