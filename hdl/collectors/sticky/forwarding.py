"""Results that are coming, and beats that wait for them (docs/schemes/sticky.md, sections 4 and 5)."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import select
from warpfile.hdl.collectors.sticky.coming import ComingRegisters
from warpfile.hdl.naming import named
from warpfile.hdl.register_bits import decoded
from warpfile.hdl.scoreboard import destination_mask
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.sticky import StickyConfig


def forward_results(m: Module, cfg: StickyConfig, collectors: wiring.Component, units: list) -> None:
    """Tell the units what the offered beat waits for and which result comes, and the frame what is coming.

    Drives ``coming_registers`` and the probes of forwarding.
    """
    result = collectors.result[0].payload
    shows = named(m, "shows", collectors.result[0].valid & result.writes)
    arrives = named(m, "arrives", shows & collectors.result[0].ready)
    boards = _coming(m, cfg, collectors, units, arrives)
    _wait(m, collectors, units, boards, arrives)
    for unit in units:
        m.d.comb += [
            unit.shows.eq(shows),
            unit.arrives.eq(arrives),
            unit.result_warp.eq(result.warp),
            unit.result_register.eq(result.register),
        ]
    m.d.comb += [
        collectors.coming.eq(Cat(board.coming.any() for board in boards)),
        collectors.awaiting.eq(Cat(unit.awaiting for unit in units)),
        collectors.forward.eq(Cat(unit.forward for unit in units)),
    ]


def _coming(
    m: Module, cfg: StickyConfig, collectors: wiring.Component, units: list, arrives: Value
) -> list[wiring.PureInterface]:
    """The registers of every warp that are coming."""
    result = collectors.result[0].payload
    row, column = decoded(m, cfg, "result", result.register)
    ports = [port for port, forwards in enumerate(cfg.forwarding_ports) if forwards]
    marks = _marks(m, cfg, collectors, units)
    beats = [collectors.dispatch[port].payload for port in ports]
    masks = [
        named(m, f"marked{port}", destination_mask(m, cfg, beat, f"marked{port}_dest"))
        for port, beat in zip(ports, beats, strict=True)
    ]
    boards = []
    for warp, head in enumerate(collectors.heads):
        board = stamp(m, f"coming{warp}", "coming_bits", lambda: ComingRegisters(cfg))
        m.d.comb += [
            Cat(*board.sources).eq(Cat(*list(head.sources)[: cfg.near_slots])),
            board.marks.eq(Cat(marks[port] & (beat.warp == warp) for port, beat in zip(ports, beats, strict=True))),
            board.registers.eq(Cat(masks)),
            board.own.eq(result.writes & (result.warp == warp)),
            board.register.eq(result.register),
            board.row.eq(row),
            board.column.eq(column),
            board.arrives.eq(arrives),
            collectors.coming_registers[warp].eq(board.coming),
        ]
        boards.append(board)
    return boards


def _marks(m: Module, cfg: StickyConfig, collectors: wiring.Component, units: list) -> Value:
    """Ports whose beat leaves and has its results come."""
    full = named(m, "full_results", Cat(unit.marks for unit in units))
    ports = zip(cfg.forwarding_ports, collectors.dispatch, collectors.chosen, strict=True)
    marks = Cat(out.ready & (chosen & full).any() if forwards else Const(0, 1) for forwards, out, chosen in ports)
    m.d.comb += collectors.marks.eq(marks)
    return collectors.marks


def _wait(m: Module, collectors: wiring.Component, units: list, boards: list, arrives: Value) -> None:
    """Sources of the offered beat that wait for a result. Whether that is accepted now is known last."""
    near = len(collectors.expects)
    valid = [head.source_valid[:near] for head in collectors.heads]
    found = [board.found & own for board, own in zip(boards, valid, strict=True)]
    meets = [board.meets & own for board, own in zip(boards, valid, strict=True)]
    coming = named(m, "source_coming", select(collectors.offer_warp, found))
    late = named(m, "source_late", select(collectors.offer_warp, meets) & arrives.replicate(near))
    takes = named(m, "takes", collectors.allocate.any()).replicate(near)
    m.d.comb += [unit.expects.eq(coming & ~late) for unit in units]
    m.d.comb += [collectors.expects.eq(coming & ~late & takes), collectors.late.eq(late & takes)]
