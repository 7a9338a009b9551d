"""Ports of every register file (docs/slots/rf.md)."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

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
from warpfile.hdl.rf.layouts import lengths_layout, location_layout, offered_layout, places_layout, unit_inputs
from warpfile.spec.config import Config
from warpfile.spec.contract import SLICES, Engine, client_count

Members = dict[str, wiring.Member]
#: Ports of engines that have one word per client in every lane.
LANE_MAJOR = ("engine_data", "engine_read")
#: The component on the other side of the ports of :func:`between_members`.
COLLECTORS = "collectors"


@dataclass(frozen=True)
class Group:
    """Ports that a register file has together: all of them or none (:data:`GROUPS`).

    ``conditions`` are fields of the configuration. A file has the ports if all of them hold; without a condition it
    always has them. ``other`` is the component on the other side.
    """

    name: str
    other: str
    conditions: tuple[str, ...]
    members: Callable[[Config], Members]

    def present(self, cfg: Config) -> bool:
        """Whether a file of this configuration has the ports."""
        return all(attrgetter(name)(cfg) for name in self.conditions)


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
    owners, sharers : Out(warps)   Warps that own what they share with another warp; warps in a slot with a partner that
                                 do not; registered; with ``gives.ranks``.
    See also :func:`between_members`.

    A file also has an output for every probe of its own, by the probe's name.
    """
    return _merged(cfg, GROUPS)


def _merged(cfg: Config, groups: tuple[Group, ...]) -> Members:
    return {name: port for group in groups if group.present(cfg) for name, port in group.members(cfg).items()}


def _absorbing(cfg: Config) -> Members:
    beats, operands = stream.Signature(dispatch_layout(cfg)), data.ArrayLayout(cfg.data_bits, cfg.source_slots)
    return {
        "access": In(beats),
        "access_operands": In(operands),
        "access_unit": In(cfg.asks.units),
        "sent": Out(beats),
        "sent_operands": Out(operands),
    }


def _launches(cfg: Config) -> Members:
    return {"launch_valid": In(1), "launch": In(launch_layout(cfg)), "launch_ready": Out(1)}


def _kernel(cfg: Config) -> Members:
    return {"kernel_valid": In(1), "kernel": In(kernel_layout(cfg)), "kernel_ready": Out(1), "quiet": Out(1)}


def _offers(cfg: Config) -> Members:
    offer: Members = {"offer_valid": In(1), "offer": In(beat_layout(cfg)), "offer_warp": In(cfg.warps), "accept": In(1)}
    return {"exits": In(cfg.warps), "hold": Out(cfg.warps), **offer}


def _written_back(cfg: Config) -> Members:
    return {
        "results": In(data.ArrayLayout(result_layout(cfg), cfg.write_ports)),
        "result_data": In(data.ArrayLayout(cfg.data_bits, cfg.write_ports)),
    }


def _completions(cfg: Config) -> Members:
    records = data.ArrayLayout(completion_layout(cfg), cfg.write_ports)
    return {"completed": Out(cfg.write_ports), "completion": Out(records)}


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


def _refusals(cfg: Config) -> Members:
    return {"refuses": Out(cfg.warps), "refused": In(cfg.warps), "yields": Out(cfg.warps)}


def between_members(cfg: Config) -> Members:
    """Ports between register file and collectors, with the directions of the file; the collectors have them flipped.

    source_places : Out(ArrayLayout)   Of the offered beat's sources, in the same cycle (:func:`offered_layout`).
    lookup_registers : In(ArrayLayout), lookup_places : Out(ArrayLayout)   Warp-major: registers, and where they live.
    source_near, source_bring : Out(slots), source_refs : Out(ArrayLayout)   Of the offered beat's sources, in the same
                                 cycle: which are near, which are copied when their bank is read, name of the copy.
    bring_slot : In(units * slots)   The slot to be copied that asks its bank, one-hot; zero for none.
    bring_warp : In(warp_bits), bring_ref : In(near_bits), bring_mask : In(lanes)   Its warp, copy, execution mask.
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
    located_places, located_masks : Out(ArrayLayout)   Places and slices of those that it served in the cycle before; 0
                                 of others.
    located_mapped : Out(slots)  Whether their registers have any slices, as ``located_masks`` say, but earlier.
    joined_rows, joined_masks : In(ArrayLayout)   Second source of each unit's request (``asks.joins`` = ``planes``).
    death_valid : In(1), death_warp, death_register, death_place, death_mask : In   A register that is dead.
    death_ready : Out(1)         It loses its slices; these two lines only with ``gives.deaths``.
    result_sizes : Out(ArrayLayout)   Bytes that each result needs, one-hot; this line and the next two only with
                                 ``asks.evicts``, sizes only with ``gives.slices``.
    evict_valid : In(1), evict_warp, evict_register, evict_size, evict_data : In   A register that the file is to store.
    evict_ready : Out(1)         It is taken.
    """
    return _merged(cfg, tuple(group for group in GROUPS if group.other == COLLECTORS))


def _lookups(cfg: Config) -> Members:
    count = cfg.warps * cfg.asks.lookups
    registers = data.ArrayLayout(cfg.register_bits, count)
    return {"lookup_registers": In(registers), "lookup_places": Out(places_layout(cfg, count))}


def _checks(cfg: Config) -> Members:
    slots = cfg.source_slots
    return {
        "check_warp": In(cfg.warp_bits),
        "check_valid": In(slots),
        "check_registers": In(data.ArrayLayout(cfg.register_bits, slots)),
        "check_places": Out(places_layout(cfg, slots)),
        "unwritten": Out(cfg.asks.units * slots),
    }


def _near(cfg: Config) -> Members:
    slots = cfg.source_slots
    refs = data.ArrayLayout(cfg.gives.near_bits, slots)
    return {
        "near_warp": In(cfg.warp_bits),
        "near_slots": In(slots),
        "near_refs": In(refs),
        "near_data": Out(data.ArrayLayout(32 * slots, cfg.lanes)),
    }


def _checked_copies(cfg: Config) -> Members:
    slots = cfg.source_slots
    return {"check_near": Out(slots), "check_refs": Out(data.ArrayLayout(cfg.gives.near_bits, slots))}


def _near_sources(cfg: Config) -> Members:
    slots = cfg.source_slots
    return {"source_near": Out(slots), "source_refs": Out(data.ArrayLayout(cfg.gives.near_bits, slots))}


def _brings(cfg: Config) -> Members:
    return {
        "source_bring": Out(cfg.source_slots),
        "bring_slot": In(cfg.asks.units * cfg.source_slots),
        "bring_warp": In(cfg.warp_bits),
        "bring_ref": In(cfg.gives.near_bits),
        "bring_mask": In(cfg.lanes),
    }


def _located(cfg: Config) -> Members:
    units, slots = cfg.asks.units, cfg.asks.units * cfg.asks.slots
    return {
        "locate": In(slots),
        "locate_warps": In(data.ArrayLayout(cfg.warp_bits, units)),
        "locate_registers": In(data.ArrayLayout(cfg.register_bits, slots)),
        "looked_up": Out(slots),
        "located_places": Out(places_layout(cfg, slots)),
        "located_masks": Out(data.ArrayLayout(SLICES, slots)),
        "located_mapped": Out(slots),
    }


def _joined(cfg: Config) -> Members:
    rows, masks = (data.ArrayLayout(bits, cfg.asks.units) for bits in (cfg.row_bits, SLICES))
    return {"joined_rows": In(rows), "joined_masks": In(masks)}


def _deaths(cfg: Config) -> Members:
    return {
        "death_valid": In(1),
        "death_warp": In(cfg.warp_bits),
        "death_register": In(cfg.register_bits),
        "death_place": In(location_layout(cfg)),
        "death_mask": In(SLICES),
        "death_ready": Out(1),
    }


def _evictions(cfg: Config) -> Members:
    return {
        "evict_valid": In(1),
        "evict_warp": In(cfg.warp_bits),
        "evict_register": In(cfg.register_bits),
        "evict_data": In(data.ArrayLayout(32, cfg.lanes)),
        "evict_ready": Out(1),
    }


def _sizes(cfg: Config) -> Members:
    return {"result_sizes": Out(data.ArrayLayout(SLICES, cfg.write_ports)), "evict_size": In(SLICES)}


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


def _stores(cfg: Config) -> Members:
    return {
        **{name: In(cfg.write_ports) for name in ("result_valid", "result_store")},
        "result_accept": Out(cfg.write_ports),
    }


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


def _lookahead(cfg: Config) -> Members:
    return {name: Out(cfg.warps) for name in ("lookahead_hit", "shareable")}


def _ranks(cfg: Config) -> Members:
    return {name: Out(cfg.warps) for name in ("owners", "sharers")}


def _pseudo_beats(cfg: Config) -> Members:
    return {"operand_valid": In(1), "operand": In(cfg.operand_bits)}


def _source_places(cfg: Config) -> Members:
    return {"source_places": Out(data.ArrayLayout(offered_layout(cfg), cfg.source_slots))}


def _deferred(cfg: Config) -> Members:
    return {"check_mask": In(cfg.lanes), "check_ready": Out(1)}


def _notes(cfg: Config) -> Members:
    return {"note": Out(cfg.gives.note_bits), "near_note": In(cfg.gives.note_bits)}


def _result_banks(cfg: Config) -> Members:
    return {"result_banks": Out(data.ArrayLayout(cfg.bank_bits, cfg.write_ports))}


_CTA, _SCHEDULER, _BUFFERS, _UNITS = "CTA dispatcher", "scheduler", "instruction buffers", "execution units"
#: All ports of a register file, in the groups of docs/slots/rf.md, in the order of the ports of its module.
GROUPS = (
    Group("launches", _CTA, (), _launches),
    Group("offers", _SCHEDULER, (), _offers),
    Group("results", _UNITS, (), _written_back),
    Group("completions", "scoreboard", (), _completions),
    Group("source places", COLLECTORS, ("places_at_once", "asks.sources"), _source_places),
    Group("look-ups", COLLECTORS, ("places_at_once", "asks.lookups"), _lookups),
    Group("checks", COLLECTORS, ("gives.later",), _checks),
    Group("near sources", COLLECTORS, ("places_at_once", "gives.near_bits"), _near_sources),
    Group("brings", COLLECTORS, ("gives.brings",), _brings),
    Group("checked copies", COLLECTORS, ("gives.later", "gives.near_bits"), _checked_copies),
    Group("near copies", COLLECTORS, ("gives.near_bits",), _near),
    Group("deferred checks", COLLECTORS, ("gives.defers",), _deferred),
    Group("notes", COLLECTORS, ("gives.note_bits",), _notes),
    Group("allocation", COLLECTORS, ("gives.renamed", "asks.sources"), lambda cfg: {"allocate": In(cfg.asks.units)}),
    Group("renamed sources", COLLECTORS, ("gives.renamed",), _located),
    Group("joined reads", COLLECTORS, ("joins_planes",), _joined),
    Group("deaths", COLLECTORS, ("gives.deaths",), _deaths),
    Group("evictions", COLLECTORS, ("asks.evicts",), _evictions),
    Group("sizes", COLLECTORS, ("asks.evicts", "gives.slices"), _sizes),
    Group("reads", COLLECTORS, (), _reads),
    Group("stores", COLLECTORS, (), _stores),
    Group("result banks", COLLECTORS, ("asks.result_banks",), _result_banks),
    Group("engines", COLLECTORS, ("asks.engines",), lambda cfg: engine_members(cfg, cfg.asks.engines)),
    Group("kernel", _CTA, ("gives.kernel",), _kernel),
    Group("start", _CTA, ("gives.starts",), lambda cfg: {"started": Out(1)}),
    Group("sweeps", _CTA, ("gives.sweeps",), lambda cfg: {"retired": Out(cfg.warps)}),
    Group("head beats", _BUFFERS, ("shows_pending",), _heads),
    Group("refusals", _SCHEDULER, ("gives.gates",), _refusals),
    Group("pseudo-beats", _BUFFERS, ("operand_bits",), _pseudo_beats),
    Group("places of active warps", _SCHEDULER, ("has_places",), _places),
    Group("lookahead", _SCHEDULER, ("gives.lookahead",), _lookahead),
    Group("ranks", _SCHEDULER, ("gives.ranks",), _ranks),
    Group("absorbed loads", _UNITS, ("gives.absorbs",), _absorbing),
)
