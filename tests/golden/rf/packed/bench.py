"""The packed file alone, driven cycle by cycle."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tests.golden.machines import layout_of
from tests.golden.rf.packed.scenario import OF_SIZE
from tests.golden.scenario import FULL
from warpfile.golden.rf.contract import Death, Eviction
from warpfile.golden.rf.packed.file import PackedFile
from warpfile.golden.rf.renaming import Mapped
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


def a_result(register: int, size: int, mask: int = FULL, warp: int = 0, row: int = 1) -> Result:
    """A result that needs so many bytes, in all lanes of a mask; it is full if the mask is."""
    result = Result(0, warp, True, register, 0, mask, row)
    result.full = mask == FULL
    result.data = sum(OF_SIZE[size] << 32 * lane for lane in range(32))
    return result


class Bench:
    """A file whose table is clear and which has taken a kernel of 8 registers. ``pins`` hold results until they are
    accepted, and ``eviction`` what is given back until it is taken; ``fields`` are the probes of all cycles since.
    """

    def __init__(self, cfg: PackedConfig, scheme: str = "corf") -> None:
        self.cfg = cfg
        self.layout = layout_of(scheme, cfg)
        self.eviction: Eviction | None = None
        self.file = PackedFile(cfg, self.layout, None)
        self.pins: dict[int, Result] = {}
        self.fields: list[dict[str, int]] = []
        self.cycle = 0
        while not self.file.kernel_ready:
            self.step()
        self.file.kernel(Kernel(8, {}))
        self.step()
        self.fields.clear()

    def step(
        self,
        results: Mapping[int, Result] | None = None,
        death: Death | None = None,
        ask: Sequence[int] = (),
        evict: Eviction | None = None,
        kept: Collection[int] = (),
    ) -> dict[str, int]:
        """One cycle with these new results; then warp 0 looks the registers of ``ask`` up. Those of the ports ``kept``
        need not be stored.
        """
        self.pins |= results or {}
        pins = [self.pins.get(port) for port in range(self.cfg.write_ports)]
        valid = sum(1 << port for port, result in enumerate(pins) if result is not None)
        stored = [port for port, result in enumerate(pins) if result is not None and result.writes]
        store = sum(1 << port for port in stored if port not in kept)
        if death is not None:
            self.file.dies(death)
        self.eviction = evict or self.eviction
        if self.eviction is not None:
            self.file.evicts(self.eviction)
        accepted = self.file.accept(self.cycle, pins, valid, store)
        self.answers = [self.file.look_up(0, register) for register in ask]
        self.pins = {port: result for port, result in self.pins.items() if not accepted >> port & 1}
        self.eviction = None if self.file.evicted else self.eviction
        self.completed = list(self.file.completion.due(self.cycle))
        fields = self.layout.unpack(self.file.edge(self.cycle)) | {"write": accepted, "retired": self.file.retired}
        fields["taken"] = int(self.file.evicted)
        self.fields.append(fields)
        self.cycle += 1
        return fields

    def settle(self, *results: Result) -> None:
        """Write these results one after the other, on port 0."""
        for result in results:
            self.step({0: result})
            while self.pins or not self.file.quiet:
                self.step()
        self.fields.clear()

    def steps(self, count: int) -> list[dict[str, int]]:
        """So many cycles in which nothing comes."""
        return [self.step() for _ in range(count)]

    def when(self, probe: str) -> list[int]:
        """Cycles since the last ``settle`` in which a probe is not zero."""
        return [number for number, fields in enumerate(self.fields) if fields[probe]]

    def entry(self, register: int, warp: int = 0) -> Mapped:
        """Where a register is."""
        return self.file.table.entry(warp, register)

    def copy(self, register: int) -> int:
        """The copy that a register has."""
        return self.file.unpacked(self.entry(register), 0, register)
