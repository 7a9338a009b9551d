"""What holds of the shared file in every cycle (docs/schemes/larf.md, section 18), and what its probes say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.golden.invariants import require
from tests.golden.machines import Shared
from warpfile.golden.arbiter import indices
from warpfile.spec.schemes.las import ASK, DATA, NO_PROBE, NO_READER, P1, READ
from warpfile.spec.schemes.shared import (
    ACT,
    ALLOCATE,
    COMPARE,
    DECIDE,
    DELETE,
    DONE,
    EMPTY,
    IDLE,
    LOAD,
    MISS,
    PERFECT,
    READ1,
    READ2,
    RECHECK,
    SELECT,
    SPAN,
    THROUGH,
    WRITE,
    SharedConfig,
)
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.stress.warp_programs import Memory
from warpfile.spec.workload import Workload

#: What may come behind each state of the second and third stage, if the access stays.
STAYING = {COMPARE: SELECT, SELECT: SELECT, SPAN: DELETE, DELETE: THROUGH, THROUGH: THROUGH}
ACTING = {DECIDE: (ACT,), ACT: (ACT, DONE), RECHECK: (DONE,), DONE: (DONE,)}
#: In which state an access may come to the third stage from each of the second.
MOVING = {SELECT: (DECIDE, DONE), DELETE: (RECHECK,), THROUGH: (RECHECK, DONE)}
BEGINNING = (COMPARE, SPAN, THROUGH)
SINGLE_ROW = (PERFECT, MISS)
_LANE = (1 << 32) - 1


@dataclass
class SharedWatcher:
    """Looks at the registered state before every step, and at the probes behind it.

    ``stores``: by record what it writes, byte by byte; without it nothing is said of what rows hold.
    """

    cfg: SharedConfig
    workload: Workload
    machine: Shared
    stores: Mapping[int, Mapping[int, int]] | None = None
    memory: Memory = field(default_factory=Memory)
    before: dict[str, int] = field(default_factory=dict)
    unfilled: set[int] = field(default_factory=set)  #: rows that wait for a load
    target: int | None = None  #: the row that the merge slot makes
    taken: int = 0  #: state of an access that was taken in the cycle before
    written: int = 0

    def look(self) -> None:
        """State at the beginning of a cycle."""
        self._look_at_rows()
        self._look_at_entries()
        self._look_at_list()
        self._look_at_reader()
        self._follow_memory()

    def _look_at_reader(self) -> None:
        """What it has read is the address of a load that is still the head."""
        lookahead = self.machine.file.lookahead
        if lookahead is None or lookahead.reader.state != DATA:
            return
        load, contents, frame = lookahead.reader.load, self.machine.file.contents, self.machine.frame
        beat = frame.buffers[load.warp][0].beat
        require(self._kind(beat.hints) == LOAD and beat.sources[0] == load.register, "the load is the head")
        require(not frame.registers[load.warp] >> load.register & 1, "no result in flight writes its address")
        words = contents.known.get(beat.expected[0], 0)
        require(not (lookahead.reader.words ^ words) & contents.bits(load.lanes), "its address is what the trace has")

    def _mapped(self) -> dict[tuple[int, int], int]:
        """Registers and their rows."""
        table, rows, found = self.machine.file.table, self.machine.file.counts, {}
        for warp in range(self.cfg.warps):
            for register in range(self.cfg.register_names):
                row = rows.row(table.entry(warp, register))
                if row >= 0:
                    found[warp, register] = row
        return found

    def _look_at_rows(self) -> None:
        rows, mapped = self.machine.file.counts, self._mapped()
        shared = Counter(mapped.values())
        counted = {row: count for row, count in enumerate(rows.count) if count}
        require(counted == dict(shared), "a count is the number of registers that are mapped to the row")
        require((rows.used, rows.shared) == (len(shared), sum(n > 1 for n in shared.values())), "rows are counted")
        taken = [(1 << self.cfg.rows) - 1] * self.cfg.banks
        for row in shared:
            taken[rows.bank(row)] ^= 1 << (row >> self.cfg.bank_bits)
        require(rows._free == taken, "all others are free")
        unready = {row for row, ready in enumerate(rows.ready) if not ready}
        making = {self.target} - {None}
        require(unready == self.unfilled | making, "a row that is not ready waits for a load or the merge slot")
        for (warp, register), row in mapped.items():
            if row in unready:
                pending = self.machine.frame.registers[warp] >> register & 1
                require(bool(pending), "no beat may read a register whose row is not ready")
        busy = {source.row for source in self._sources()}
        require(busy <= set(shared), "rows that the merge slot has yet to read are kept")

    def _sources(self) -> tuple:  # type: ignore[type-arg]
        slot = self.machine.file.slot
        return slot._sources[slot.state - READ1 :] if slot.state in (READ1, READ2) else ()

    def _look_at_entries(self) -> None:
        rows, table = self.machine.file.counts, self.machine.file.addresses
        valid = [entry for entry in table.entries if entry is not None]
        require(table.valid == len(valid), "valid entries are counted")
        require(len({entry.row for entry in valid}) == len(valid), "no two entries name one row")
        for entry in valid:
            require(
                rows.count[entry.row] > 0 and rows.marked[entry.row], "a row that an entry names is kept, and marked"
            )
            if self.stores is not None and rows.ready[entry.row]:
                words = self.machine.file.contents.words[entry.row]
                for lane in indices(entry.lanes):
                    at = (table.upper << 32) + entry.base + lane * entry.stride
                    require(
                        self._is_in_memory(at, words >> 32 * lane & _LANE), "a row has the words that memory has now"
                    )

    def _is_in_memory(self, at: int, word: int) -> bool:
        """Whether that is the word at an address, if it is known what is there."""
        contested = any(self.memory.written.get(at + byte, 0) < 0 for byte in range(4))
        return contested or self.memory.load(at) == word

    def _look_at_list(self) -> None:
        absorbed, rows = self.machine.file.absorbed, self.machine.file.counts
        for number in indices(absorbed.valid):
            entry = absorbed._entries[number]
            assert entry is not None
            pending = self.machine.frame.registers[entry.warp] >> entry.beat.dest & 1
            require(bool(pending), "an absorbed load is pending until it completes")
            waits = bool(absorbed.waiting >> number & 1)
            require(waits != rows.ready[entry.row], "it waits as long as its row is not ready")
        require(not absorbed.waiting & ~absorbed.valid, "only what is in the list waits")

    def _follow_memory(self) -> None:
        """A store changes memory before anything behind it acts."""
        port = self.machine.file.port
        if self.stores is None or port.acting is None or port.act_state != RECHECK:
            return
        self.memory.written |= self.stores.get(port.acting.sent.entry.beat.record, {})

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Probes of a cycle."""
        if self.before:
            self._check_port(f)
            self._check_table(f)
            self._check_slot(f)
            self._check_list(f)
            if "reader_state" in f:
                self._check_reader(f)
        require(not f["error"], "a row is found")
        require(not f["offer"] & f["dispatch_unit" + str(self.cfg.ports - 1)], "the pins know no unit")
        self._check_outcome(f)
        self._follow_rows(f)
        self.written += f["stored"].bit_count()
        self.before = f

    def _check_port(self, f: dict[str, int]) -> None:
        before, last = self.before, self.cfg.ports - 1
        sent = bool(before["access_send"] and before["dispatch"] >> last & 1)
        absorbed = before["outcome"] not in (0, MISS)
        done = before["access_act"] in (RECHECK, DONE) or before["outcome"] == MISS
        third = absorbed or (done and (sent or not before["access_send"]))
        moves = before["access_search"] in (SELECT, DELETE, THROUGH)
        second = moves and (third or not before["access_act"])
        first = bool(before["access_vector"]) and (second or not before["access_search"])
        require((f["offer"] >> last & 1) == f["access_send"], "at the pins is what is in the fourth stage")
        if third and not absorbed:
            require(bool(f["access_send"]), "what is done in the third stage goes to the pins")
        elif before["access_send"] and not sent:
            require(bool(f["access_send"]), "what is not taken stays at the pins")
        if second:
            require(f["access_act"] in MOVING[before["access_search"]], "an access moves to the third stage")
        elif third or not before["access_act"]:
            require(f["access_act"] == EMPTY, "nothing comes to the third stage by itself")
        else:
            require(f["access_act"] in ACTING[before["access_act"]], "an access stays in the third stage")
        if first:
            require(f["access_search"] in BEGINNING, "an access begins in the second stage")
        elif second or not before["access_search"]:
            require(f["access_search"] == EMPTY, "nothing comes to the second stage by itself")
        else:
            require(f["access_search"] == STAYING[before["access_search"]], "an access stays in the second stage")
        if before["access_vector"] and not first:
            require(bool(f["access_vector"]), "an access stays in the first stage")

    def _check_table(self, f: dict[str, int]) -> None:
        before, entries = self.before, self.cfg.table_entries
        inserted = before["outcome"] > PERFECT
        pointer = 0 if before.get("kernel") else (before["table_pointer"] + inserted) % entries
        require(f["table_pointer"] == pointer, "entries are inserted one behind the other")
        if before.get("kernel") or before["flushed"]:
            require(f["valid_entries"] <= inserted, "a flush leaves no entry but that of the load ahead of it")
        elif not (before["deleted"] and (before["ended"] or before["evicted"])):
            change = inserted - before["evicted"] - before["ended"] - before["deleted"]
            require(f["valid_entries"] == before["valid_entries"] + change, "entries come and go one by one")

    def _check_slot(self, f: dict[str, int]) -> None:
        before, state, now = self.before, self.before["merge_state"], f["merge_state"]
        if state == IDLE:
            require(now == (READ1 if before["outcome"] in (2, 3) else IDLE), "a merge begins")
        elif state == WRITE:
            require(now == (IDLE if before["merge_write"] else WRITE), "a merge ends when it is written")
        else:
            behind = (READ2, WRITE) if state == READ1 else (WRITE,)
            require(now in (behind if before["merge_read"] else (state,)), "a merge reads its rows")

    def _check_reader(self, f: dict[str, int]) -> None:
        before = self.before
        state, issues = before["reader_state"], bool(before["issue"])
        require(not before["reader_read"] or (state == READ and before["probe_state"] == NO_PROBE), "a reader reads")
        require(f["reader_state"] != DATA or bool(before["reader_read"]), "a row comes of a read")
        if state == READ:
            stays = not (before["reader_read"] or before["reader_late"])
            require(f["reader_state"] in ((READ, NO_READER) if stays else (DATA, NO_READER)), "a read ends")
        if before["reader_read"] and not issues:
            require(f["reader_state"] == DATA, "a row that is read comes")
        if state == DATA and not issues:
            require(f["probe_state"] == P1, "a row that comes is a probe")
        if f["reader_state"] == ASK and state != ASK:
            require(bool(f["probed"] & ~before["probed"]), "a load that is chosen has its probe")
        found = bool(f["lookahead_hit"])
        require(found <= bool(before["probe_hit"]) and (found or issues or not before["probe_hit"]), "who is told of")
        left = 1 << before["issue_warp"] if issues else 0
        require(not f["probed"] & left, "the next head load has had no probe")
        require(not before["probed"] & ~left & ~f["probed"], "a head load has one probe")

    def _check_list(self, f: dict[str, int]) -> None:
        before = self.before
        free = ~before["absorbed"]
        new = free & -free if before["outcome"] not in (0, MISS) else 0
        require(f["absorbed"] == before["absorbed"] & ~before["absorbed_done"] | new, "an absorbed load is in the list")
        done = f["absorbed_done"]
        ready = f["absorbed"] & ~f["absorbed_waiting"]
        require(done in (0, ready & -ready), "the lowest one that is ready completes")

    def _check_outcome(self, f: dict[str, int]) -> None:
        acts = f["outcome"] != 0
        require((f["access_act"] == ACT) == (acts or bool(f["act_wait"])), "an access in E acts or waits")
        require(
            acts or not (f["lost"] or f["fallback"] or f["evicted"] or f["outcome_row"]),
            "who does not act does nothing",
        )
        require(f["outcome"] == MISS or not (f["lost"] or f["fallback"]), "what is lost is a miss")
        if acts:
            require(not (f["search"] or f["killed"] or f["sweep_free"]), "one thing changes mappings in a cycle")
            require(f["outcome"] in SINGLE_ROW or self.cfg.search == "merge", "merges have to be built")
            require(f["outcome"] == MISS or self.cfg.search != "none", "a table that finds nothing absorbs nothing")
        require(f["search"] & f["search"] - 1 == 0, "one result changes in a cycle")
        codes = {f["decision"] >> 3 * port & 7 for port in indices(f["search"])}
        if f["killed"] or f["sweep_free"]:
            require(codes <= {0, ALLOCATE}, "nothing is released while a result gives up a row")

    def _follow_rows(self, f: dict[str, int]) -> None:
        if f["outcome"] == MISS:
            self.unfilled.add(f["outcome_row"])
        elif f["outcome"] > PERFECT:
            self.target = f["outcome_row"]
        if f["row_ready"] & 2:
            self.target = None
        if f["row_ready"] & 1:
            ready = self.machine.file.counts.ready
            filled = {row for row in self.unfilled if ready[row]}
            require(len(filled) >= 1, "a fill makes a row ready")
            self.unfilled -= filled

    def check_end(self, counters: Mapping[str, int]) -> None:
        """Nothing is left of any warp, and every load was found or sent."""
        file = self.machine.file
        require(not (file.counts.used or file.addresses.valid), "all rows are free")
        require(not (file.absorbed.valid or self.unfilled or self.target), "nothing is under way")
        loads = [beat for beat in self.workload.dealt if self._kind(beat.hints) == LOAD and beat.needs_unit]
        hits = sum(counters[name] for name in ("hits_perfect", "hits_single", "hits_double"))
        untracked = sum(counters[f"untracked_{why}"] for why in ("partial", "irregular", "stride", "upper"))
        require(hits + counters["misses"] + untracked == len(loads), "a load hits, misses or is not tracked")
        require(hits == counters["absorbed_loads_done"], "a load that hits completes")
        beats = sum(beat.needs_unit for beat in self.workload.dealt)
        require(counters["dispatches"] == beats - hits, "all others leave the machine")
        results = sum(beat.dest_count for beat in self.workload.dealt if beat.needs_unit)
        require(self.written == results - hits, "every result is written once")
        require(counters["merge_writes"] == counters["hits_single"] + counters["hits_double"], "merges are written")

    def _kind(self, hints: int) -> int:
        return hints >> self.cfg.hint_at("access") & 3
