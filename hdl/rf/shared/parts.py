"""The parts of a file of shared rows."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth import Array, Module, Value
from amaranth.lib import data

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.banks import RenamedBanks
from warpfile.hdl.renaming.table import RenamingTable
from warpfile.hdl.rf.shared.absorbed import AbsorbedList
from warpfile.hdl.rf.shared.access_port import AccessPort
from warpfile.hdl.rf.shared.act import Act
from warpfile.hdl.rf.shared.address_table import AddressTable
from warpfile.hdl.rf.shared.merge import MergeSlot
from warpfile.hdl.rf.shared.notes import AccessNotes
from warpfile.hdl.rf.shared.port import ResultPort
from warpfile.hdl.rf.shared.rows import Rows
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.shared import SharedConfig


@dataclass(frozen=True)
class Parts:
    """Submodules of the file; ``results`` has a port for each write-back port, ``access`` is that of the LSU."""

    cfg: SharedConfig
    table: RenamingTable
    banks: RenamedBanks
    rows: Rows
    act: Act
    results: list[ResultPort]
    addresses: AddressTable
    access: AccessPort
    notes: AccessNotes
    merge: MergeSlot
    absorbed: AbsorbedList

    @classmethod
    def made(cls, m: Module, cfg: SharedConfig) -> Parts:
        """All of them as submodules of a module."""
        m.submodules.table = table = RenamingTable(cfg, visited=True)
        m.submodules.banks = banks = RenamedBanks(cfg, others=1, reads_idle=cfg.gives.lookahead)
        m.submodules.rows = rows = Rows(cfg)
        m.submodules.act = act = Act(cfg)
        ports = range(cfg.write_ports)
        return cls(
            cfg=cfg,
            table=table,
            banks=banks,
            rows=rows,
            act=act,
            results=[stamp(m, f"port{port}", "result_port", lambda: ResultPort(cfg)) for port in ports],
            addresses=stamp(m, "addresses", "address_table", lambda: AddressTable(cfg)),
            access=stamp(m, "access", "access_port", lambda: AccessPort(cfg)),
            notes=stamp(m, "notes", "access_notes", lambda: AccessNotes(cfg)),
            merge=stamp(m, "merge", "merge_slot", lambda: MergeSlot(cfg)),
            absorbed=stamp(m, "absorbed", "absorbed_list", lambda: AbsorbedList(cfg)),
        )

    def busy(self, place: data.View) -> Value:
        """Whether the merge slot has yet to read a row."""
        rows = zip(self.merge.busy, self.merge.busy_places, strict=True)
        return any_of(bit & (busy.as_value() == place.as_value()) for bit, busy in rows)

    def fresh(self, m: Module, warp: Value, register: Value) -> Value:
        """The free row that a register would get."""
        if self.cfg.banks == 1:
            return self.rows.fresh[0].as_value()
        home = named(m, "home", (warp + register)[: self.cfg.bank_bits])
        return named(m, "fresh", Array([row.as_value() for row in self.rows.fresh])[home])
