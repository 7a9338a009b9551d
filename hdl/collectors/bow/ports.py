"""What a window shows to the collectors around it."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.slices import WAY_OUT
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.bow import BowConfig


def writes_back(cfg: BowConfig) -> bool:
    """Whether entries may hold what no bank has. If not, there is no way from the windows to the banks."""
    return cfg.window_writes != "through"


def hinted(cfg: BowConfig) -> bool:
    """Whether the compiler says where each result goes."""
    return cfg.window_writes == "hints"


def way_bits(cfg: BowConfig) -> int:
    """Width of what a lane has to know of a row that arrives, over a renamed file: slices, or whether there is one."""
    return WAY_OUT if cfg.gives.slices else 1


def window_members(cfg: BowConfig) -> dict[str, wiring.Member]:
    """Ports of one window.

    index : In(warp_bits)          Its warp slot; constant.
    head : In(beat_layout(cfg)), buffered, running : In(1)   Next beat; it is clear and does not wait at a barrier.
    offered : In(1)                The next beat is offered.
    room : Out(1)                  It could enter.
    fits, fits_after : Out(1)      It may enter if no result is accepted, and if the considered one is.
    blocked, collecting : Out(1)   The next beat writes what an older one has yet to read; a beat is not dispatched.
    results, full : In(ports), registers : In(ArrayLayout), classes : In(ArrayLayout)   Valid results of the warp; write
                                   classes only if the compiler gives them.
    considered, bank_request : Out(ports)   The considered result, one-hot; the same if its bank must take it.
    accepted : In(1)               It is accepted.
    request : Out(1), request_register : Out(register_bits), grant, fill : In(1)   The entry that asks its bank.
    cycles : In                    With the grant: how long until its data arrive.
    evict : Out(1), evict_register : Out(register_bits), evicted : In(1)   The entry that a bank is to take; if it
                                   writes back.
    ready : Out(1), dispatch : In(1), port : Out(port_bits), out : Out(dispatch_layout(cfg))   Oldest ready beat.
    filled, written : Out(window_entries)   Entries that the lanes fill, and write if the result is accepted.
    evicting : Out(window_entries)          Entry in flight to its bank; if it writes back.
    events : Out                            Observed.
    read : Out(source_slots * window_entries)         Entries of the sources of the beat on ``out``.

    Over a renamed file, where ``request_register`` and ``cycles`` are not there:

    locate : Out(1), locate_register : Out(register_bits), looked_up : In(1)   The entry that asks the table.
    located : In(location_layout(cfg)), located_mask : In(4)   What the table gives for it, in the cycle after.
    request_place : Out(location_layout(cfg)), zero : Out(1)   Of the entry that asks its bank; one needs none.
    way : Out(way_bits(cfg))                What the lanes have to know of the row on ``fill``.
    sizes : In(ArrayLayout), evict_size : Out(4)   Bytes of the results, and of the entry that leaves, one-hot; only
                                            with ``sizes_entries``.
    """
    entries = cfg.window_entries
    singles = {
        In: ("buffered", "running", "offered", "accepted", "grant", "fill", "dispatch"),
        Out: ("room", "fits", "fits_after", "blocked", "collecting", "request", "ready"),
    }
    return {
        "index": In(cfg.warp_bits),
        "head": In(beat_layout(cfg)),
        **{name: flow(1) for flow, names in singles.items() for name in names},
        **_result_members(cfg),
        **(_renamed_members(cfg) if cfg.gives.renamed else _placed_members(cfg)),
        **(_eviction_members(cfg) if writes_back(cfg) else {}),
        "port": Out(cfg.port_bits),
        "out": Out(dispatch_layout(cfg)),
        **{name: Out(entries) for name in ("filled", "written")},
        "read": Out(cfg.source_slots * entries),
        "events": Out(events_layout(cfg)),
    }


def _result_members(cfg: BowConfig) -> dict[str, wiring.Member]:
    ports = cfg.write_ports
    return {
        **{name: In(ports) for name in ("results", "full")},
        "registers": In(data.ArrayLayout(cfg.register_bits, ports)),
        **({"classes": In(data.ArrayLayout(2, ports))} if hinted(cfg) else {}),
        **{name: Out(ports) for name in ("considered", "bank_request")},
    }


def _eviction_members(cfg: BowConfig) -> dict[str, wiring.Member]:
    register, entries = Out(cfg.register_bits), Out(cfg.window_entries)
    return {"evict": Out(1), "evict_register": register, "evicted": In(1), "evicting": entries}


def _placed_members(cfg: BowConfig) -> dict[str, wiring.Member]:
    return {"request_register": Out(cfg.register_bits), "cycles": In(cfg.gives.cycles.bit_length())}


def _renamed_members(cfg: BowConfig) -> dict[str, wiring.Member]:
    sizes = {"sizes": In(data.ArrayLayout(SLICES, cfg.write_ports)), "evict_size": Out(SLICES)}
    return {
        **{name: Out(1) for name in ("locate", "zero")},
        "looked_up": In(1),
        "locate_register": Out(cfg.register_bits),
        "located": In(location_layout(cfg)),
        "located_mask": In(SLICES),
        "request_place": Out(location_layout(cfg)),
        "way": Out(way_bits(cfg)),
        **(sizes if cfg.sizes_entries else {}),
    }


def events_layout(cfg: BowConfig) -> data.StructLayout:
    """What the probes show of one window (``spec.schemes.bow.window_probes``). Results: of the accepted one."""
    entries, slots = cfg.window_entries, cfg.source_slots
    masks = ("held", "filling", "dirty", "owed", "evicting", "discard", "victim")
    singles = ("stall_slot", "stall_evict", "stall_entry", "victim_transient")
    results = ("store", "bank_write", "drop", "late", "saved")
    return data.StructLayout(
        {
            "hit": slots,
            "miss": slots,
            **dict.fromkeys(("undispatched", "lacking"), cfg.window),
            **dict.fromkeys(masks, entries),
            **dict.fromkeys((*singles, *results), 1),
            "write_class": 2,
            **({"entry_size": 3 * entries} if cfg.sizes_entries else {}),
        }
    )
