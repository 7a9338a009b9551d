"""Which entries of its place the hints of a beat name (docs/schemes/shrf.md, section 3)."""

from amaranth import Cat, Const, Value
from amaranth.lib import data

from warpfile.hdl.arbiter import any_of, decode
from warpfile.spec.schemes.shrf import ShrfConfig


def result_entry(cfg: ShrfConfig, hints: Value) -> Value:
    """The entry of a result, one-hot; zero for none. ``hints``: of the beat, or of the result."""
    return decode(_hint(cfg, hints, "result_entry", cfg.result_entry_bits), cfg.place_entries + 1)[1:]


def skips_bank(cfg: ShrfConfig, hints: Value) -> Value:
    """Whether the result goes to its entry alone. ``hints``: of the beat, or of the result."""
    return hints[cfg.hint_at("mrf_skipped")]


def bringing(cfg: ShrfConfig, beat: data.View) -> Value:
    """Source slots of a beat whose entry gets what their bank has."""
    return _hint(cfg, beat.hints, "bring", cfg.source_slots) if cfg.orf_entries else Const(0, cfg.source_slots)


def source_entries(cfg: ShrfConfig, beat: data.View) -> list[Value]:
    """Per source slot of a beat the entry that it reads or that it brings into, one-hot; zero for none."""
    width, named = cfg.source_entry_bits, []
    hints = _hint(cfg, beat.hints, "source_entry", cfg.source_slots * width)
    for slot in range(cfg.source_slots):
        level = decode(hints.word_select(slot, width), cfg.orf_entries + 1 + (cfg.lrf != "none"))
        operand, last = level[1 : cfg.orf_entries + 1], level[cfg.orf_entries + 1 :]
        if cfg.lrf == "split":
            last = Cat(last if slot == one else Const(0, 1) for one in range(cfg.source_slots))
        named.append(Cat(operand, last) & beat.source_valid[slot].replicate(cfg.place_entries))
    return named


def near(cfg: ShrfConfig, beat: data.View) -> Value:
    """Source slots of a beat that are read from their entry."""
    return Cat(entry.any() for entry in source_entries(cfg, beat)) & ~bringing(cfg, beat)


def of_slots(entries: list[Value], slots: Value) -> Value:
    """The entries that some slots name, one bit each."""
    return any_of(entry & slot.replicate(len(entry)) for entry, slot in zip(entries, slots, strict=True))


def _hint(cfg: ShrfConfig, hints: Value, name: str, width: int) -> Value:
    at = cfg.hint_at(name)
    return hints[at : at + width]
