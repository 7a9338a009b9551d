"""Probes of a file of shared rows."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring

from warpfile.hdl.rf.shared.parts import Parts


def observe(m: Module, file: wiring.Component, parts: Parts, could: Value, changes: Value) -> None:
    """Drive the probes. ``could``: result ports that could change the mapping, ``changes``: the one that does."""
    ports, table, rows = parts.results, parts.table, parts.rows
    entry = len(table.write_entries[0])
    targets = (Cat(port.place, Const(1, 1)) & port.moves.replicate(entry) for port in ports)
    m.d.comb += [
        file.deciding.eq(Cat(port.deciding for port in ports)),
        file.storing.eq(Cat(port.storing for port in ports)),
        file.used_rows.eq(rows.used),
        file.shared_rows.eq(rows.shared),
        file.target.eq(Cat(targets)),
        file.decision.eq(Cat(port.decision for port in ports)),
        file.search.eq(changes),
        file.search_wait.eq(could & ~changes),
        file.merge.eq(Cat(port.merge_served for port in ports)),
        file.stored.eq(Cat(port.stored for port in ports)),
        file.table_reads.eq(table.table_reads),
        file.table_writes.eq(table.table_writes),
        file.table_wait.eq(file.result_store & ~table.read),
    ]
    _observe_accesses(m, file, parts)


def _observe_accesses(m: Module, file: wiring.Component, parts: Parts) -> None:
    act, port, found, slot = parts.act, parts.access, parts.addresses, parts.merge
    m.d.comb += [
        file.access_vector.eq(port.vector),
        file.access_search.eq(port.search_state),
        file.access_act.eq(port.act_state),
        file.access_send.eq(port.sent_valid),
        file.valid_entries.eq(found.used),
        file.table_pointer.eq(found.pointer),
        file.absorbed.eq(parts.absorbed.valid),
        file.absorbed_waiting.eq(parts.absorbed.waiting),
        file.merge_state.eq(slot.state),
        file.outcome.eq(act.outcome),
        file.outcome_row.eq(Mux(act.acts, act.place.as_value(), 0)),
        file.lost.eq(act.lost),
        file.fallback.eq(act.fallback),
        file.untracked.eq(port.untracked),
        file.act_wait.eq(port.acting & ~act.acts),
        file.merge_busy.eq(act.waits),
        file.evicted.eq(found.evicted),
        file.ahead.eq(found.ahead | found.again),
        file.deleted.eq(Mux(port.flushes, 0, found.deleted) | (found.again & port.own_stores)),
        file.ended.eq(found.ended),
        file.flushed.eq((port.flushes & found.used.any()) | (found.again & ~port.own_stores)),
        file.merge_read.eq(slot.read),
        file.merge_write.eq(slot.written),
        file.merge_hold.eq((slot.reads & ~slot.read) | (slot.writes & ~slot.written)),
        file.absorbed_done.eq(parts.absorbed.done),
    ]
