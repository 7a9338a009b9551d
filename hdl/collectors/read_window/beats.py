"""What is kept of a beat in flight: fewer fields the further it is (docs/schemes/modern.md, section 6)."""

from amaranth import Value
from amaranth.lib import data

from warpfile.spec.beat import dispatch_fields
from warpfile.spec.schemes.modern import NOWHERE, POSITIONS, ReadWindowConfig


def issued_layout(cfg: ReadWindowConfig) -> data.StructLayout:
    """A beat in Control: what leaves at dispatch, its sources with their rows, its way, and what it still reports."""
    return _layout(cfg, "port", "rows", *_marks(cfg), *_reports(cfg))


def allocating_layout(cfg: ReadWindowConfig) -> data.StructLayout:
    """A beat in Allocate."""
    return _layout(cfg, "rows", *_marks(cfg))


def reading_layout(cfg: ReadWindowConfig) -> data.StructLayout:
    """A beat in the window: ``places`` says per slot when and on which port it is read, zero for the reuse cache."""
    return _layout(cfg, "places", *(_marks(cfg) if cfg.reuses else ()))


def queued_layout(cfg: ReadWindowConfig) -> data.StructLayout:
    """A beat in a queue."""
    return _layout(cfg, "rows", *_reports(cfg))


def _marks(cfg: ReadWindowConfig) -> tuple[str, ...]:
    return ("positions", "reuse") if cfg.reuses else ("positions",)


def _reports(cfg: ReadWindowConfig) -> tuple[str, ...]:
    return ("read_barrier",) if cfg.codes else ()


def _layout(cfg: ReadWindowConfig, *names: str) -> data.StructLayout:
    slots = cfg.source_slots
    fields: dict[str, object] = dict(dispatch_fields(cfg))
    fields |= {"source_valid": slots, "registers": data.ArrayLayout(cfg.register_bits, slots)}
    others = {
        "port": cfg.port_bits,
        "rows": data.ArrayLayout(cfg.row_bits, slots),
        "places": data.ArrayLayout(window_places(cfg), slots),
        "positions": data.ArrayLayout(2, POSITIONS),
        "reuse": POSITIONS,
        "read_barrier": 3,
    }
    return data.StructLayout(fields | {name: others[name] for name in names})


def window_places(cfg: ReadWindowConfig) -> int:
    """Reads of one bank in the window: place ``read_ports`` * cycle + port."""
    return cfg.read_window * cfg.read_ports


def passed(target: data.View, source: data.View) -> list:
    """Every field that both have."""
    common = [name for name, _ in target.shape() if name in dict(source.shape())]
    return [target[name].eq(source[name]) for name in common]


def hint_of(cfg: ReadWindowConfig, name: str, hints: Value) -> Value:
    """One hint of a beat, or of a result if it returns."""
    (bits,) = (hint.bits for hint in cfg.hints() if hint.name == name)
    at = cfg.hint_at(name)
    return hints[at : at + bits]


def banks_of(registers: data.View) -> list[Value]:
    """The bank of each register."""
    return [register[0] for register in registers]


def has_source(position: Value) -> Value:
    """Whether there is a source at a position."""
    return position != NOWHERE
