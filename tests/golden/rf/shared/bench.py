"""The shared file alone, driven cycle by cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.golden.machines import layout_of
from tests.golden.rf.shared.scenario import make, scheme_of
from tests.golden.scenario import FULL
from warpfile.golden.entry import Entry
from warpfile.golden.frame import Frame
from warpfile.golden.rf.contract import Death, Sent
from warpfile.golden.rf.shared.file import SharedFile
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.shared import LOAD, STORE, SharedConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.stress.warp_programs import Memory
from warpfile.spec.trace import Kind, Port, Space
from warpfile.spec.workload import Kernel

BASE = 0x10000000


def machine(**changes: object) -> SharedConfig:
    """Eight warps of sixteen registers and a row for each, with 32 lanes."""
    return make(**{"lanes": 32, "warps": 8, "rows": 64, "banks": 2, "ports": 3, "write_back_ports": 3} | changes)


def flagging(**changes: object) -> SharedConfig:
    """The same under ``las``."""
    return machine(scheme="larf+las", **changes)


class Bench:
    """A file whose table is clear and which has taken a kernel of 8 registers. ``pins`` hold results until they are
    accepted, ``waiting`` is the access that is not taken yet; ``fields`` are the probes of all cycles since the last
    ``settle``. ``sent``: what left, by cycle. ``frame``: what the file sees of head beats, if it lookahead.
    """

    def __init__(self, cfg: SharedConfig | None = None) -> None:
        self.cfg = cfg or machine()
        self.layout = layout_of(scheme_of(self.cfg), self.cfg)
        self.file = SharedFile(self.cfg, self.layout, None)
        self.frame = Frame(self.cfg)
        if self.cfg.lookahead:
            self.file.watch(self.frame)
        self.memory = Memory()
        self.pins: dict[int, Result] = {}
        self.waiting: list[Sent] = []
        self.fields: list[dict[str, int]] = []
        self.sent: dict[int, Sent] = {}
        self.cycle = 0
        self._rows = 0
        while not self.file.kernel_ready:
            self.step()
        self.file.kernel(Kernel(8, {}))
        self.step()
        self.fields.clear()

    def new_row(self, words: int) -> int:
        """A row of the trace with these words."""
        self._rows += 1
        self.file.contents.known[self._rows] = words
        return self._rows

    def packed(self, values: list[int]) -> int:
        """Words side by side."""
        return sum((value & 0xFFFFFFFF) << 32 * lane for lane, value in enumerate(values[: self.cfg.lanes]))

    def access(self, kind: int, values: list[int], warp: int = 0, dest: int = 0, mask: int = FULL, **more: int) -> Sent:
        """An access of these addresses, which come in two registers; ``more`` are fields of a beat, or ``size``."""
        hints = kind << self.cfg.hint_at("access") | 2 << self.cfg.hint_at("address_registers")
        hints |= more.pop("size", 2) << self.cfg.hint_at("access_size")
        low, high = (self.new_row(self.packed([value >> shift for value in values])) for shift in (0, 32))
        words = self.packed([self.memory.load(value) for value in values])
        full = bool(more.pop("full", 1))
        beat = Beat(
            payload=0, record=0, offset=0, port=int(Port.LSU), kind=int(Kind.NORMAL), sources=(1, 2), dest=dest,
            dest_count=int(kind == LOAD), token_reads=0, token_writes=0, mask=mask, first=True, last=True,
            expected=(low, high), space=int(Space.GLOBAL), is_load=kind == LOAD, full=full, hints=hints,
        )  # fmt: skip
        if kind == LOAD:
            beat.result_words, beat.result_row = words, self.new_row(words)
        return Sent(warp, Entry(beat, self.cfg.port_of), [low, high])

    def load(self, warp: int, dest: int, at: int = BASE, stride: int = 4, mask: int = FULL, **more: int) -> Sent:
        """A load that may be shared."""
        return self.access(LOAD, [at + stride * lane for lane in range(32)], warp, dest, mask, **more)

    def store(self, at: int, stride: int = 4, mask: int = FULL, size: int = 2) -> Sent:
        """A store of 2^size bytes per lane."""
        return self.access(STORE, [at + stride * lane for lane in range(32)], mask=mask, size=size)

    def result(self, warp: int, register: int, value: int = 1, mask: int = FULL, full: bool | None = None) -> Result:
        """A result, of all lanes unless a mask says otherwise."""
        words = self.packed([value] * 32)
        result = Result(0, warp, True, register, 0, mask, self.new_row(words))
        result.full, result.data = mask == FULL if full is None else full, words
        return result

    def answer(self, sent: Sent) -> Result:
        """The result of a load that was sent."""
        beat = sent.entry.beat
        result = Result(0, sent.warp, True, beat.dest, 0, beat.mask, beat.result_row)
        result.data = beat.result_words
        return result

    def step(
        self,
        results: Mapping[int, Result] | None = None,
        access: Sent | None = None,
        death: Death | None = None,
        ask: Sequence[tuple[int, int]] = (),
        ready: bool = True,
    ) -> dict[str, int]:
        """One cycle with these new results, and an access behind those that wait. ``ask``: registers to look up."""
        self.pins |= results or {}
        pins = [self.pins.get(port) for port in range(self.cfg.write_ports)]
        valid = sum(1 << port for port, result in enumerate(pins) if result is not None)
        store = sum(1 << port for port, result in enumerate(pins) if result is not None and result.writes)
        if death is not None:
            self.file.dies(death)
        if access is not None:
            self.waiting.append(access)
        accepted = self.file.accept(self.cycle, pins, valid, store)
        self._pass_accesses(ready)
        self.answers = [self.file.look_up(*register) for register in ask]
        self.pins = {port: result for port, result in self.pins.items() if not accepted >> port & 1}
        completed = [(result.warp, result.register) for result in self.file.completion.due(self.cycle)]
        fields = self.layout.unpack(self.file.edge(self.cycle)) | {"write": accepted, "retired": self.file.retired}
        self.completed = completed
        self.fields.append(fields | {"completed": len(completed)})
        self.cycle += 1
        return fields

    def _pass_accesses(self, ready: bool) -> None:
        sending = self.file.sending
        sent = sending is not None and ready
        if sending is not None and sent:
            self.sent[len(self.fields)] = sending
        if self.file.takes_access(sent) and self.waiting:
            self.file.access(self.waiting.pop(0))

    def steps(self, count: int) -> list[dict[str, int]]:
        """So many cycles in which nothing comes."""
        return [self.step() for _ in range(count)]

    def rest(self) -> None:
        """Until nothing is under way; loads that were sent are not waited for."""
        while self.pins or self.waiting or not self.file.quiet:
            self.step()

    def settle(self, *first: Sent | Result) -> None:
        """One after the other; loads are answered at once. Cycles are counted anew."""
        for one in first:
            if isinstance(one, Result):
                self.step({0: one})
            else:
                self.sent.clear()
                self.step(access=one)
            self.rest()
            if isinstance(one, Sent) and one.entry.beat.dest_count and self.sent:
                self.step({2: self.answer(one)})
                self.rest()
        self.fields.clear()
        self.sent.clear()

    def begin(self, access: Sent) -> None:
        """The access is taken in cycle -1."""
        self.step(access=access)
        self.fields.clear()
        self.sent.clear()

    def when(self, probe: str) -> list[int]:
        """Cycles in which a probe is not zero."""
        return [number for number, fields in enumerate(self.fields) if fields[probe]]

    def seen(self, probe: str) -> list[int]:
        """What a probe was, cycle after cycle."""
        return [fields[probe] for fields in self.fields]

    def row(self, warp: int, register: int) -> int:
        """The row of a register, -1 if it has none."""
        return self.file.counts.row(self.file.table.entry(warp, register))

    def count(self, row: int) -> int:
        """How many registers are mapped to a row."""
        return self.file.counts.count[row]

    def death(self, warp: int, register: int) -> Death:
        """A register is dead."""
        return Death(warp, register, self.file.table.entry(warp, register))
