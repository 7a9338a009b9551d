"""Ports of all collectors (docs/slots/collectors.md)."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout, dispatch_layout, result_layout
from warpfile.hdl.rf.contract import between_members
from warpfile.spec.config import Config


def execution_members(cfg: Config) -> dict[str, wiring.Member]:
    """Ports between the collectors and the execution units.

    dispatch : Out(ports)        Beat that leaves for an execution unit.
    operands : Out(ports)        Its operands, slot-major, lane 0 lowest.
    result : In(write_ports)     Result for a register, held until ready.
    result_data : In(write_ports)   Value of the result.

    ``dispatch``: one stream per execution port, with the operands in ``operands`` (slot-major, lane 0 lowest) in the
    same cycle. ``result``: one stream per write-back port, held until ready, with its data in ``result_data``.
    """
    slots = data.ArrayLayout(cfg.data_bits, cfg.source_slots)
    return {
        "dispatch": Out(stream.Signature(dispatch_layout(cfg))).array(cfg.ports),
        "operands": Out(slots).array(cfg.ports),
        "result": In(stream.Signature(result_layout(cfg))).array(cfg.write_ports),
        "result_data": In(cfg.data_bits).array(cfg.write_ports),
    }


def collector_members(cfg: Config) -> dict[str, wiring.Member]:
    """All ports of collectors; every width and time is in docs/slots/collectors.md.

    heads : In(ArrayLayout), buffered, clear, waiting : In(warps)   Head beat of every warp; there is one, it has no
                                 hazard, it waits at a barrier.
    room : Out(warps)            The head beat would be taken.
    prefer : Out(warps)          Warps that issue first.
    blocked : Out(warps)         The head beat writes a register that an older beat has yet to read; with
                                 ``asks.guards`` there is any reason for which it must not issue yet.
    collecting : Out(warps)      Some beat of the warp has not been dispatched.
    coming_registers : Out(ArrayLayout)   Per warp the registers whose result is coming, registered state: the first
                                 ``asks.forwards`` sources of a head beat may name them. Only if that is not 0.
    offer_valid : In(1), offer : In(beat_layout), offer_warp : In(warps)   The chosen beat; zero if none.
    accept : Out(1)              It is taken; a refusal is a bubble.
    chosen : Out(units)          Unit presented for dispatch, one-hot.
    See also :func:`execution_members` and :func:`between_members`.

    Collectors also have an output for every probe of their own, by the probe's name, except for those that the contract
    names alike.
    """
    coming = data.ArrayLayout(cfg.register_names, cfg.warps)
    return {
        "heads": In(data.ArrayLayout(beat_layout(cfg), cfg.warps)),
        **{name: In(cfg.warps) for name in ("buffered", "clear", "waiting")},
        **{name: Out(cfg.warps) for name in ("room", "prefer", "blocked", "collecting")},
        **({"coming_registers": Out(coming)} if cfg.asks.forwards else {}),
        "offer_valid": In(1),
        "offer": In(beat_layout(cfg)),
        "offer_warp": In(cfg.warps),
        "accept": Out(1),
        "chosen": Out(cfg.asks.units).array(cfg.ports),
        **execution_members(cfg),
        **{name: member.flip() for name, member in between_members(cfg).items()},
    }
