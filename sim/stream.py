"""What golden model and environment hand to a simulation: one record per cycle, its inputs and what must be observed.

A record is a head and the sections that are there in its cycle (:func:`sim.stimulus.sections`), in order; every number
takes whole bytes, highest first, because Verilog's ``$fread`` reads them so. The head has, from its lowest bit: one bit
per section, the input ``ready``, the end mark, and the observation word. The last record is a head with the end mark
and the number of cycles in place of the observation: a stream without it was cut short.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warpfile.schemes import Scheme
from warpfile.sim.counters import ObservedCounters
from warpfile.sim.stimulus import DuePacker, StimulusPacker, sections
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import Workload

#: Bytes that are written at once.
BLOCK = 1 << 16


class StreamFormat:
    """Places of the fields of a record's head, in bits; ``head_size`` and ``sizes`` of the sections in bytes."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        self.sizes = [section.size for section in sections(cfg).values()]
        self.ready_at = len(self.sizes)
        self.end_at = self.ready_at + cfg.ports
        self.want_at = self.end_at + 1
        self.head_size = -(-(self.want_at + layout.width) // 8)

    def end(self, cycles: int) -> bytes:
        """The last record."""
        return (1 << self.end_at | cycles << self.want_at).to_bytes(self.head_size, "big")


class Quiet:
    """Notices a machine that has done nothing for some time."""

    def __init__(self, layout: ProbeLayout, cycles: int) -> None:
        names = ("launch", "issue", "write", "dispatch")
        self.mask = sum(layout.mask(name) << layout.offset[name] for name in names)
        self._cycles, self._since = cycles, 0

    def hangs(self, cycle: int, word: int) -> bool:
        """Whether a cycle, the word of which is its observation, is one too many without an event."""
        if word & self.mask:
            self._since = cycle
        return cycle - self._since > self._cycles


class GoldenSide:
    """A golden model and an environment of its own, which run ahead of a simulation.

    After :meth:`blocks` has ended, ``complete`` says whether the run came to its end, and ``error`` what the model or
    the environment objected to.
    """

    def __init__(self, scheme: Scheme, cfg: Config, workload: Workload, hang_cycles: int) -> None:
        layout = ProbeLayout(scheme.probes(cfg))
        self.model = scheme.golden(cfg, layout)
        self.environment = Environment(cfg, workload, layout)
        self.complete, self.error = False, ""
        self._format = StreamFormat(cfg, layout)
        self._counters = ObservedCounters(layout, partial(scheme.events, cfg))
        self._packer, self._due = StimulusPacker(cfg), DuePacker(cfg, layout)
        self._quiet = Quiet(layout, hang_cycles)

    def blocks(self) -> Iterator[bytes]:
        """The stream. It has its last record only if the run came to its end."""
        block = bytearray()
        try:
            for record in self.records():
                block += record
                if len(block) >= BLOCK:
                    yield bytes(block)
                    block.clear()
        except AssertionError as error:
            self.error = str(error) or "assertion"
        yield bytes(block)

    def records(self) -> Iterator[bytes]:
        """The stream, record by record. Raises ``AssertionError`` where model or environment object."""
        environment, step, add, quiet = self.environment, self.model.step, self._counters.add, self._quiet
        inputs, due, form = self._packer.parts, self._due.parts, self._format
        sizes, size, ready_at, want_at = form.sizes, form.head_size, form.ready_at, form.want_at
        dispatches = self._due.dispatches
        while not environment.done:
            stimulus = environment.stimulus()
            parts = inputs(stimulus)
            want = step(stimulus)
            if want & dispatches:
                parts += due(want, environment)
            environment.observe(want)
            add(want)
            head = want << want_at | stimulus.ready << ready_at
            body = b""
            for number, value in parts:
                head |= 1 << number
                body += value.to_bytes(sizes[number], "big")
            yield head.to_bytes(size, "big") + body
            if quiet.hangs(environment.cycle, want):
                return
        self.complete = True
        yield form.end(environment.cycle)

    def counters(self) -> dict[str, int]:
        """Counters summed from the observation words and from what the environment saw."""
        return with_observed(self._counters.totals(), self.environment)


def with_observed(totals: dict[str, int], environment: Environment) -> dict[str, int]:
    """Counters of the observation words, and those that only the environment knows."""
    written = totals.get("bank_writes", environment.writes)
    return totals | {"instructions": environment.instructions, "bank_writes": written}


def wrong_counters(ours: dict[str, int], theirs: dict[str, int]) -> dict[str, dict[str, int | None]]:
    """Counters of the golden model that are not what the observation words say."""
    return {name: {"rtl": ours.get(name), "golden": theirs[name]} for name in theirs if ours.get(name) != theirs[name]}
