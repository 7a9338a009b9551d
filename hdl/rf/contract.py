"""Ports of every register file (docs/slots/rf.md)."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import (
    beat_layout,
    completion_layout,
    dispatch_layout,
    kernel_layout,
    launch_layout,
    result_layout,
)
from warpfile.spec.config import Config, index_bits
from warpfile.spec.contract import SLICES, Engine, client_count

Members = dict[str, wiring.Member]
#: Ports of engines that have one word per client in every lane.
LANE_MAJOR = ("engine_data", "engine_read")


def location_layout(cfg: Config) -> data.StructLayout:
    """Place of one warp register: ``bank`` and ``row`` in it, and with ``gives.absent`` whether it is no place."""
    absent = {"absent": 1} if cfg.gives.absent else {}
    return data.StructLayout({"bank": index_bits(cfg.read_banks), "row": index_bits(cfg.read_rows), **absent})


def places_layout(cfg: Config, count: int) -> data.ArrayLayout:
    """So many places."""
    return data.ArrayLayout(location_layout(cfg), count)


def offered_layout(cfg: Config) -> data.StructLayout:
    """Place of a source of the offered beat, of whose row only parts are known: it is ``base`` + ``offset`` + ``carry``
    (:func:`hdl.rf.location.settle`). Which beat is offered is known late, and units need the row a cycle later."""
    place = {name: field.shape for name, field in location_layout(cfg)}
    offset = index_bits(-(-cfg.register_names // cfg.banks))
    return data.StructLayout({"base": place.pop("row"), "offset": offset, "carry": 1, **place})


def lengths_layout(cfg: Config, count: int) -> data.ArrayLayout:
    """How many cycles so many accesses take."""
    return data.ArrayLayout(cfg.gives.cycles.bit_length(), count)


def unit_inputs(cfg: Config) -> int:
    """Words per lane that reach units in a cycle: one per unit, or one per slot where all may be filled at once."""
    return cfg.asks.units * (cfg.asks.slots if cfg.collect == "all" else 1)


def file_members(cfg: Config) -> Members:
    """All ports of a register file; every width and time is in docs/slots/rf.md.

    launch_valid : In(1), launch : In(launch_layout)   A warp that is resident from the next cycle.
    launch_ready : Out(1)        The file takes a launch in this cycle.
    started : Out(1)             The start after reset is over; only with ``gives.starts``.
    kernel_valid : In(1), kernel : In(kernel_layout), kernel_ready : Out(1)   A kernel before its first launch.
    quiet : Out(1)               Nothing is under way inside.
    exits : In(warps)            One-hot, the warp whose EXIT issues.
    retired : Out(warps)         Slots and places that are free from the next cycle.
    hold : Out(warps)            The head beat of the warp must not issue.
    heads : In(ArrayLayout), buffered : In(warps), pending : In(ArrayLayout)   Head beats, who has one, and the pending
                                 registers of every warp; these and the next two lines only with ``gives.gates``.
    refuses, yields : Out(warps)   The head beat of the warp does not issue if it is chosen; the warp waits for another.
    refused : In(warps)          One-hot, the warp that was chosen and refused; nothing is offered then.
    offer_valid : In(1), offer : In(beat_layout), offer_warp : In(warps)   The chosen beat; issues if it is accepted.
    accept : In(1)               The collectors take the offered beat.
    operand_valid : In(1), operand : In(operand_bits)   Of the pseudo-instruction that issued in the cycle before.
    results : In(ArrayLayout), result_data : In(ArrayLayout)   Results at the write-back ports, and their values.
    completed : Out(write_ports), completion : Out(ArrayLayout)   Results that are in place, for the scoreboard.
    places : In(ArrayLayout), release : In(active_warps), released : Out(active_warps)   Places of active warps: who
                                 holds each, who is to be let go, who is.
    access : In(stream), access_operands : In(ArrayLayout), access_unit : In(units)   What the collectors dispatch by
                                 the port of the LSU, and its unit; this and the next line with ``gives.absorbs``.
    sent : Out(stream), sent_operands : Out(ArrayLayout)   What leaves by that port.
    heads, buffered, pending : In, lookahead_hit : Out(warps), shareable : Out(warps)   As with ``gives.gates``; the
                                 warp whose next load is there, one-hot; whose head beat is a load that may be shared,
                                 whether there is one or not; with ``gives.lookahead``.
    See also :func:`between_members`.

    A file also has an output for every probe of its own, by the probe's name.
    """
    members = {**_of_warps(cfg), **_written_back(cfg), **between_members(cfg)}
    if cfg.gives.kernel:
        members |= {"kernel_valid": In(1), "kernel": In(kernel_layout(cfg)), "kernel_ready": Out(1), "quiet": Out(1)}
    if cfg.gives.starts:
        members["started"] = Out(1)
    if cfg.gives.sweeps:
        members["retired"] = Out(cfg.warps)
    if cfg.gives.gates:
        members |= _gates(cfg)
    if cfg.operand_bits:
        members |= {"operand_valid": In(1), "operand": In(cfg.operand_bits)}
    if cfg.has_places:
        members |= _places(cfg)
    if cfg.gives.lookahead:
        members |= {**_heads(cfg), **{name: Out(cfg.warps) for name in ("lookahead_hit", "shareable")}}
    return members | (_absorbing(cfg) if cfg.gives.absorbs else {})


def _absorbing(cfg: Config) -> Members:
    beats, operands = stream.Signature(dispatch_layout(cfg)), data.ArrayLayout(cfg.data_bits, cfg.source_slots)
    return {
        "access": In(beats),
        "access_operands": In(operands),
        "access_unit": In(cfg.asks.units),
        "sent": Out(beats),
        "sent_operands": Out(operands),
    }


def _of_warps(cfg: Config) -> Members:
    return {
        "launch_valid": In(1),
        "launch": In(launch_layout(cfg)),
        "launch_ready": Out(1),
        "exits": In(cfg.warps),
        "hold": Out(cfg.warps),
        "offer_valid": In(1),
        "offer": In(beat_layout(cfg)),
        "offer_warp": In(cfg.warps),
        "accept": In(1),
    }


def _written_back(cfg: Config) -> Members:
    return {
        "results": In(data.ArrayLayout(result_layout(cfg), cfg.write_ports)),
        "result_data": In(data.ArrayLayout(cfg.data_bits, cfg.write_ports)),
        "completed": Out(cfg.write_ports),
        "completion": Out(data.ArrayLayout(completion_layout(cfg), cfg.write_ports)),
    }


def _places(cfg: Config) -> Members:
    return {
        "places": In(data.ArrayLayout(cfg.warps, cfg.active_warps)),
        "release": In(cfg.active_warps),
        "released": Out(cfg.active_warps),
    }


def _heads(cfg: Config) -> Members:
    return {
        "heads": In(data.ArrayLayout(beat_layout(cfg), cfg.warps)),
        "buffered": In(cfg.warps),
        "pending": In(data.ArrayLayout(cfg.register_names, cfg.warps)),
    }


def _gates(cfg: Config) -> Members:
    return {
        **_heads(cfg),
        "refuses": Out(cfg.warps),
        "refused": In(cfg.warps),
        "yields": Out(cfg.warps),
    }


def between_members(cfg: Config) -> Members:
    """What is between collectors and register file, as the file sees it; the collectors have it flipped.

    source_places : Out(ArrayLayout)   Of the offered beat's sources, in the same cycle (:func:`offered_layout`).
    lookup_registers : In(ArrayLayout), lookup_places : Out(ArrayLayout)   Warp-major: registers, and where they live.
    check_warp : In(warp_bits), check_valid : In(slots), check_registers : In(ArrayLayout)   Sources of the unit that
                                 asks; no bit valid: no client asks.
    check_places, check_refs : Out(ArrayLayout), check_near : Out(slots)   Of those sources, which are near, the name of
                                 the copy, the place of the others.
    unwritten : Out(slots)       Asking slots whose row has yet to be written.
    near_warp : In(warp_bits), near_slots : In(slots), near_refs : In(ArrayLayout)   The unit that reads its copies.
    near_data : Out(ArrayLayout)   Its copies, lane-major.
    note, near_note : Out(note_bits)   What the file notes of the offered beat, and the note of the unit that reads.
    requests : In(slots), request_places : In(ArrayLayout)   Every slot that asks its bank, and its place.
    older : In(units ** 2)       Order of allocation.
    grant, fill : Out(slots)     Slots that a bank serves, and slots whose data are there.
    cycles : Out(ArrayLayout)    With the grant: how long until the data are there.
    fill_data : Out(ArrayLayout)   Lane-major: lane, then input.
    result_valid, result_store : In(write_ports)   Results with a register; those that a bank has to store.
    result_accept : Out(write_ports)   A bank takes the result.
    result_banks : Out(ArrayLayout)   Bank of every result's register.
    See also :func:`engine_members`, and where a table says where registers are:

    allocate : In(units)         Unit that takes the offered beat, one-hot; only with ``asks.sources``.
    locate : In(slots), locate_warps, locate_registers : In(ArrayLayout)   Slots that have yet to be looked up.
    looked_up : Out(slots)       Slots that the table serves.
    located_places, located_masks : Out(ArrayLayout)   Places and slices of those that it served in the cycle before.
    joined_rows, joined_masks : In(ArrayLayout)   Second source of each unit's request (``asks.joins`` = ``planes``).
    death_valid : In(1), death_warp, death_register, death_place, death_mask : In   A register that is dead.
    death_ready : Out(1)         It loses its slices; these two lines only with ``gives.deaths``.
    result_sizes : Out(ArrayLayout)   Bytes that each result needs, one-hot; this line and the next two only with
                                 ``asks.evicts``, sizes only with ``gives.slices``.
    evict_valid : In(1), evict_warp, evict_register, evict_size, evict_data : In   A register that the file is to store.
    evict_ready : Out(1)         It is taken.
    """
    sources = _renamed(cfg) if cfg.gives.renamed else _later(cfg) if cfg.gives.later else _at_once(cfg)
    return {**sources, **_reads(cfg), **_results(cfg), **engine_members(cfg, cfg.asks.engines)}


def _at_once(cfg: Config) -> Members:
    members: Members = {}
    if cfg.asks.sources:
        members["source_places"] = Out(data.ArrayLayout(offered_layout(cfg), cfg.source_slots))
    if count := cfg.warps * cfg.asks.lookups:
        members["lookup_registers"] = In(data.ArrayLayout(cfg.register_bits, count))
        members["lookup_places"] = Out(places_layout(cfg, count))
    return members


def _later(cfg: Config) -> Members:
    slots, gives = cfg.source_slots, cfg.gives
    members = {
        "check_warp": In(cfg.warp_bits),
        "check_valid": In(slots),
        "check_registers": In(data.ArrayLayout(cfg.register_bits, slots)),
        "check_places": Out(places_layout(cfg, slots)),
        "unwritten": Out(cfg.asks.units * slots),
    }
    if gives.near_bits:
        refs = data.ArrayLayout(gives.near_bits, slots)
        members |= {"check_near": Out(slots), "check_refs": Out(refs)}
        members |= {"near_warp": In(cfg.warp_bits), "near_slots": In(slots), "near_refs": In(refs)}
        members["near_data"] = Out(data.ArrayLayout(32 * slots, cfg.lanes))
    if gives.defers:
        members |= {"check_mask": In(cfg.lanes), "check_ready": Out(1)}
    if gives.note_bits:
        members |= {"note": Out(gives.note_bits), "near_note": In(gives.note_bits)}
    return members


def _renamed(cfg: Config) -> Members:
    units, slots = cfg.asks.units, cfg.asks.units * cfg.asks.slots
    masks, rows = data.ArrayLayout(SLICES, units), data.ArrayLayout(cfg.row_bits, units)
    members: Members = {
        **({"allocate": In(units)} if cfg.asks.sources else {}),
        "locate": In(slots),
        "locate_warps": In(data.ArrayLayout(cfg.warp_bits, units)),
        "locate_registers": In(data.ArrayLayout(cfg.register_bits, slots)),
        "looked_up": Out(slots),
        "located_places": Out(places_layout(cfg, slots)),
        "located_masks": Out(data.ArrayLayout(SLICES, slots)),
    }
    if cfg.asks.joins == "planes":
        members |= {"joined_rows": In(rows), "joined_masks": In(masks)}
    if cfg.gives.deaths:
        members |= {"death_valid": In(1), "death_warp": In(cfg.warp_bits), "death_register": In(cfg.register_bits)}
        members |= {"death_place": In(location_layout(cfg)), "death_mask": In(SLICES), "death_ready": Out(1)}
    return members | (_evictions(cfg) if cfg.asks.evicts else {})


def _evictions(cfg: Config) -> Members:
    sizes: Members = {"result_sizes": Out(data.ArrayLayout(SLICES, cfg.write_ports)), "evict_size": In(SLICES)}
    return {
        "evict_valid": In(1),
        "evict_warp": In(cfg.warp_bits),
        "evict_register": In(cfg.register_bits),
        "evict_data": In(data.ArrayLayout(32, cfg.lanes)),
        "evict_ready": Out(1),
        **(sizes if cfg.gives.slices else {}),
    }


def _reads(cfg: Config) -> Members:
    units, slots = cfg.asks.units, cfg.asks.units * cfg.asks.slots
    return {
        "requests": In(slots),
        "request_places": In(places_layout(cfg, slots)),
        "older": In(units**2),
        "grant": Out(slots),
        "cycles": Out(lengths_layout(cfg, slots)),
        "fill": Out(slots),
        "fill_data": Out(data.ArrayLayout(32 * unit_inputs(cfg), cfg.lanes)),
    }


def _results(cfg: Config) -> Members:
    members = {
        **{name: In(cfg.write_ports) for name in ("result_valid", "result_store")},
        "result_accept": Out(cfg.write_ports),
    }
    if cfg.asks.result_banks:
        members["result_banks"] = Out(data.ArrayLayout(cfg.bank_bits, cfg.write_ports))
    return members


def engine_members(cfg: Config, engines: tuple[Engine, ...]) -> Members:
    """Ports for engines; clients are numbered through all of them, in their order.

    engine_valid : In(clients), engine_places : In(ArrayLayout)   Clients that want an access, and where.
    engine_data : In(ArrayLayout), engine_masks : In(ArrayLayout)   What they write, and in which lanes.
    engine_grant : Out(clients)   The bank serves the client.
    engine_write : In(clients)   A client of a reading engine wants to write.
    engine_fill : Out(clients), engine_read : Out(ArrayLayout)   Its data are there, and the data.
    """
    count, masked, reading = (client_count(engines, kind) for kind in ("all", "masked", "reads"))
    members: Members = {}
    if count:
        members |= {"engine_valid": In(count), "engine_places": In(places_layout(cfg, count))}
        members |= {"engine_data": In(data.ArrayLayout(32 * count, cfg.lanes)), "engine_grant": Out(count)}
    if masked:
        members["engine_masks"] = In(data.ArrayLayout(cfg.lanes, masked))
    if reading:
        members |= {"engine_write": In(reading), "engine_fill": Out(reading)}
        members["engine_read"] = Out(data.ArrayLayout(32 * reading, cfg.lanes))
    return members
