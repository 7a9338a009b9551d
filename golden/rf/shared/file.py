"""Register file in which registers with the same loaded words share a row (docs/schemes/larf.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.contract import Heads
from warpfile.golden.entry import Entry
from warpfile.golden.operands import check_operands
from warpfile.golden.rf.contract import LookaheadFile, Sent
from warpfile.golden.rf.renaming import Mapped
from warpfile.golden.rf.shared.absorbed import AbsorbedList
from warpfile.golden.rf.shared.access import AccessPort
from warpfile.golden.rf.shared.acting import Acting
from warpfile.golden.rf.shared.addresses import AddressTable
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.counts import Counts
from warpfile.golden.rf.shared.entrance import Entrance
from warpfile.golden.rf.shared.lookahead import Lookahead
from warpfile.golden.rf.shared.mapping import Mapping
from warpfile.golden.rf.shared.merging import MergeSlot
from warpfile.golden.rf.shared.probes import Probes
from warpfile.golden.rf.shared.reader import Reader
from warpfile.golden.rf.shared.stages import Stages
from warpfile.golden.rf.table_file import TableFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.las import NO_PROBE, LasConfig
from warpfile.spec.schemes.shared import IDLE, SharedConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class SharedFile(TableFile, LookaheadFile):
    """Register file (:class:`golden.rf.contract.LookaheadFile`) that takes the kernel."""

    def __init__(self, cfg: SharedConfig, layout: ProbeLayout, places: Places | None) -> None:
        self.probes = probes = Probes(cfg, layout)
        super().__init__(cfg, probes)
        self.counts, self.contents, self.addresses = Counts(cfg), Contents(cfg), AddressTable(cfg)
        self.mapping = Mapping(self.table, self.counts, self.addresses, self.contents, probes)
        self.slot = MergeSlot(self.banks, self.counts, self.contents, probes)
        self.stages = Stages(
            cfg, self.banks, self.table, self.mapping, self.contents, self.slot, self.completions, probes
        )
        self.absorbed = AbsorbedList(cfg, self.counts, self.contents, self.stages.latest, probes)
        self.acting = Acting(cfg, self.table, self.addresses, self.mapping, self.slot, self.absorbed, probes)
        self.port = AccessPort(
            cfg, self.table, self.addresses, self.contents, self.acting.act, lambda: self.acting.last, probes
        )
        self.entrance = Entrance(self.table, self.counts, self.stages, self.completions, probes)
        self.lookahead: Lookahead | None = None
        if isinstance(cfg, LasConfig) and cfg.lookahead:
            reader = Reader(cfg, self.table, self.banks, self.counts, self.contents, probes)
            self.lookahead = Lookahead(cfg, cfg.flagged_by, reader, self.addresses, self.port, probes)
        self._last_port = 1 << cfg.write_ports - 1

    @property
    def lookahead_hit(self) -> int:
        """See the contract."""
        return 0 if self.lookahead is None else self.lookahead.lookahead_hit

    def watch(self, heads: Heads) -> None:
        """See the contract."""
        assert self.lookahead is not None, "only a file with lookahead watches next loads"
        self.lookahead.watch(heads)

    @property
    def sending(self) -> Sent | None:
        """See the contract."""
        return self.port.sending

    def takes_access(self, sent: bool) -> bool:
        """See the contract."""
        return self.port.takes(sent)

    def access(self, access: Sent) -> None:
        """See the contract."""
        self.port.take(access)

    def _lose(self, mapped: Mapped) -> None:
        if mapped.mask:
            self.mapping.drop(self.counts.row(mapped))

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract. Everything happens here but look-ups and what the pins do."""
        self._observe(cycle)
        self._act(cycle)
        self.stages.store(cycle)
        self.slot.step(cycle)
        self.stages.decide(self.acting.acts)
        accepted = self.entrance.enter(cycle, results, valid, store, self._is_written) if valid else 0
        if self.lookahead is not None:
            self.lookahead.step(results, accepted & store)
        self.port.ask()
        if self.lookahead is not None and not self.port.asks:
            self.lookahead.reader.ask()
        if not self.completions.step(cycle) & self._last_port:
            self.absorbed.complete(cycle, self.completion)
        self._release()
        return accepted

    def _observe(self, cycle: int) -> None:
        """Probes of registered state."""
        probes = self.probes
        self.stages.observe(cycle)
        self._observe_release()
        probes.rows(self.counts.used, self.counts.shared, self.addresses.valid)
        port, pointer = self.port, self.addresses.pointer
        probes.access(port.vector is not None, port.search_state, port.act_state, port.leaving is not None, pointer)
        probes.level("absorbed", self.absorbed.valid)
        probes.level("absorbed_waiting", self.absorbed.waiting)
        probes.level("merge_state", self.slot.state)

    def _act(self, cycle: int) -> None:
        """The access port; an access that is absorbed has no other place where its operands are checked."""
        self.acting.begin()
        self.port.step()
        if self.port.absorbed is not None:
            sent = self.port.absorbed.sent
            check_operands(cycle, sent.warp, sent.entry.beat, sent.operands)

    def _is_written(self, warp: int, register: int) -> bool:
        """Whether a client asks to write an entry of the table in this cycle."""
        if self.acting.asking or self.stages.asking:
            key = warp, register
            if key in self.acting.asking or key in self.stages.asking:
                return True
        return self._may_unmap(warp, register)

    def _may_drop(self, mapped: Mapped | None) -> bool:
        """Whether a register may give up what it is mapped to, if it is anything."""
        if mapped is None:
            return True
        return not (self.acting.acts or self.stages.needs_old or self.slot.busy(self.counts.row(mapped)))

    def _release(self) -> None:
        death = self._death
        self._give_up(self._may_drop(self.sweep.held), death is None or self._may_drop(death.mapped))

    def look_up(self, warp: int, register: int) -> Mapped | None:
        """See the contract."""
        return self.table.read(warp, register)

    def unpacked(self, mapped: Mapped, warp: int, register: int) -> int:
        """See the contract."""
        return self.contents.copy(self.counts.row(mapped), warp, register)

    def issued(self, warp: int, entry: Entry) -> None:
        """See the contract."""
        super().issued(warp, entry)
        if self.lookahead is not None:
            self.lookahead.issued(warp)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.stages.latest.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Tables, counts, merge slot, list and access port change; the reader comes behind all reads of units."""
        if self.lookahead is not None:
            self.lookahead.reader.read(cycle, self.lookahead.state == NO_PROBE)
        self._change_table()
        self.counts.edge()
        self.addresses.edge()
        self.slot.edge()
        self.absorbed.edge()
        self.port.edge()
        if self.lookahead is not None:
            self.lookahead.edge()
        self.error |= self.stages.fails or self.acting.fails
        nothing = self.port.empty and self.slot.state == IDLE and not self.absorbed.valid
        self._rest(nothing, self.stages.empty)
        return self.probes.edge()

    def _start(self, kernel: Kernel) -> None:
        super()._start(kernel)
        self.addresses.restart()
