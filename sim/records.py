"""The records of a stream, cycle by cycle: what a golden side does in every cycle, and nothing else.

It is compiled with the golden models (:mod:`warpfile.compiled`), so it imports nothing that is not.
"""

from __future__ import annotations

from collections.abc import Callable

from warpfile.sim.stimulus import DuePacker, StimulusPacker, sections
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus


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
        self._cycles = cycles
        self._since = 0

    def hangs(self, cycle: int, word: int) -> bool:
        """Whether a cycle, the word of which is its observation, is one too many without an event."""
        if word & self.mask:
            self._since = cycle
        return cycle - self._since > self._cycles


class Recorder:
    """Lets a model (its ``step``) and an environment run and writes down what happens.

    ``running`` until the environment is done, or nothing has happened for ``hang_cycles`` and no result is to come.
    """

    def __init__(
        self,
        cfg: Config,
        layout: ProbeLayout,
        step: Callable[[Stimulus], int],
        environment: Environment,
        hang_cycles: int,
    ) -> None:
        self.running = True
        self._step, self._environment = step, environment
        self._format = StreamFormat(cfg, layout)
        self._packer = StimulusPacker(cfg)
        self._due = DuePacker(cfg, layout)
        self._quiet = Quiet(layout, hang_cycles)

    def record(self, cycles: int, pieces: list[bytes], heads: list[bytes]) -> None:
        """Append the records of the next cycles to ``pieces``, as bytes that follow each other, and their heads.

        Fewer if they end before. Raises ``AssertionError`` where model or environment object; what was before is there.
        """
        environment, step, form = self._environment, self._step, self._format
        sizes, size, ready_at, want_at = form.sizes, form.head_size, form.ready_at, form.want_at
        dispatches = self._due.dispatches
        for _ in range(cycles):
            if environment.done:
                self.running = False
                return
            stimulus = environment.stimulus()
            parts = self._packer.parts(stimulus)
            low = stimulus.ready << ready_at
            want = step(stimulus)
            if want & dispatches:
                parts += self._due.parts(want, environment)
            environment.observe(want)
            for number, _value in parts:
                low |= 1 << number
            head = (want << want_at | low).to_bytes(size, "big")
            heads.append(head)
            pieces.append(head)
            for number, value in parts:
                pieces.append(value.to_bytes(sizes[number], "big"))
            if self._quiet.hangs(environment.cycle, want) and not environment.awaits:
                self.running = False
                return
