"""What a window shows to the collectors around it."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.spec.schemes.bow import BowConfig


def writes_back(cfg: BowConfig) -> bool:
    """Whether entries may hold what no bank has. If not, there is no way from the windows to the banks."""
    return cfg.window_writes != "through"


def hinted(cfg: BowConfig) -> bool:
    """Whether the compiler says where each result goes."""
    return cfg.window_writes == "hints"


def window_members(cfg: BowConfig) -> dict[str, wiring.Member]:
    """Ports of one window.

    index : In(warp_bits)          Its warp slot; constant.
    head : In(beat_layout(cfg)), buffered, running : In(1)   Next beat; it is clear and does not wait at a barrier.
    offered : In(1)                The next beat is offered.
    room, accepts : Out(1)         It could enter in some cycle, it may enter in this one.
    blocked, collecting : Out(1)   The next beat writes what an older one has yet to read; a beat is not dispatched.
    results, full : In(ports), registers : In(ArrayLayout), classes : In(ArrayLayout)   Valid results of the warp; write
                                   classes only if the compiler gives them.
    considered, bank_request : Out(ports)   The considered result, one-hot; the same if its bank must take it.
    bank_accept : In(1)            The bank takes it.
    accepted : Out(ports)          It is accepted, one-hot.
    request : Out(1), request_register : Out(register_bits), grant, fill : In(1)   The entry that asks its bank.
    cycles : In                    With the grant: how long until its data arrive.
    evict : Out(1), evict_register : Out(register_bits), evicted : In(1)   The entry that a bank is to take; if it
                                   writes back.
    ready : Out(1), dispatch : In(1), port : Out(port_bits), out : Out(dispatch_layout(cfg))   Oldest ready beat.
    filled, written : Out(window_entries)   Entries that the lanes fill, and write with the accepted result.
    evicting : Out(window_entries)          Entry on its way to its bank; if it writes back.
    events : Out                            Observed.
    read : Out(source_slots * window_entries)         Entries of the sources of the beat on ``out``.
    """
    register, ports, entries = cfg.register_bits, cfg.write_ports, cfg.window_entries
    singles = {
        In: ("buffered", "running", "offered", "bank_accept", "grant", "fill", "dispatch"),
        Out: ("room", "accepts", "blocked", "collecting", "request", "ready"),
    }
    evictions = {"evict": Out(1), "evict_register": Out(register), "evicted": In(1), "evicting": Out(entries)}
    return {
        "index": In(cfg.warp_bits),
        "head": In(beat_layout(cfg)),
        **{name: flow(1) for flow, names in singles.items() for name in names},
        **{name: In(ports) for name in ("results", "full")},
        "registers": In(data.ArrayLayout(cfg.register_bits, ports)),
        **({"classes": In(data.ArrayLayout(2, ports))} if hinted(cfg) else {}),
        **{name: Out(ports) for name in ("considered", "bank_request", "accepted")},
        "request_register": Out(register),
        "cycles": In(cfg.gives.cycles.bit_length()),
        **(evictions if writes_back(cfg) else {}),
        "port": Out(cfg.port_bits),
        "out": Out(dispatch_layout(cfg)),
        **{name: Out(entries) for name in ("filled", "written")},
        "read": Out(cfg.source_slots * entries),
        "events": Out(events_layout(cfg)),
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
        }
    )
