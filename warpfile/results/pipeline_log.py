"""Pipeline log: the cycles of decode, issue, collection, dispatch and write-back of every beat, seen from the pins."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, replace

from warpfile.results.points import Run, workload_of
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result, Stimulus

#: Cycles of a window: more are no picture.
LONGEST = 1000


@dataclass(slots=True)
class LoggedBeat:
    """One beat in flight, with the cycles of its events; None where there was none up to the end of the window.

    ``warp``: slot. ``beat``: its number in the trace. ``unit``: whether it passes the operand stage, ``returns``:
    whether results come back. ``offered``: first cycle in which it stands at its execution port; it leaves it when
    ``dispatched``. ``written``: last of its results that the machine accepted.
    """

    warp: int
    beat: int
    offset: int
    instruction: str
    unit: bool
    returns: bool
    decoded: int
    issued: int | None = None
    offered: int | None = None
    dispatched: int | None = None
    written: int | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more is to be seen of it."""
        last = self.written if self.returns else self.dispatched if self.unit else self.issued
        return last is not None

    @property
    def latest(self) -> int:
        """Its last event."""
        events = (self.decoded, self.issued, self.dispatched, self.written)
        return max(event for event in events if event is not None)


class Watch:
    """Notes what happens to every beat, cycle after cycle, in the stimulus and the observation of a machine."""

    def __init__(self, layout: ProbeLayout, ports: int, beats: tuple[Beat, ...], texts: dict[int, str]) -> None:
        self.pipeline_log: dict[int, LoggedBeat] = {}
        self._unpack, self._ports, self._beats, self._texts = layout.unpack, ports, beats, texts
        self._buffers: dict[int, deque[int]] = defaultdict(deque)
        self._pending: dict[tuple[int, bool, int], deque[int]] = defaultdict(deque)

    def note(self, cycle: int, stimulus: Stimulus, word: int) -> None:
        """One cycle. A beat that arrives issues in a later cycle at the earliest; a result may come in no earlier one
        than the cycle after its dispatch."""
        fields = self._unpack(word)
        for port, result in enumerate(stimulus.results):
            if result is not None and fields["write"] >> port & 1:
                self._written(cycle, result)
        for port in range(self._ports):
            if fields["offer"] >> port & 1:
                logged_beat = self.pipeline_log[fields[f"dispatch_payload{port}"]]
                logged_beat.offered = cycle if logged_beat.offered is None else logged_beat.offered
                if fields["dispatch"] >> port & 1:
                    logged_beat.dispatched = cycle
        if fields["issue"]:
            self._issued(cycle, fields["issue_warp"])
        if stimulus.beat is not None:
            self._decoded(cycle, stimulus.beat_warp, stimulus.beat)

    def _decoded(self, cycle: int, warp: int, beat: Beat) -> None:
        text, returns = self._texts.get(beat.offset, ""), _returns(beat)
        self.pipeline_log[beat.payload] = LoggedBeat(
            warp, beat.payload, beat.offset, text, beat.needs_unit, returns, cycle
        )
        self._buffers[warp].append(beat.payload)

    def _issued(self, cycle: int, warp: int) -> None:
        """What it will return is expected in the order of issue."""
        payload = self._buffers[warp].popleft()
        self.pipeline_log[payload].issued = cycle
        beat = self._beats[payload]
        if not _returns(beat):
            return
        for register in range(beat.dest, beat.dest + beat.dest_count):
            self._pending[warp, True, register].append(payload)
        if beat.token_writes and not beat.dest_count:
            self._pending[warp, False, beat.token_writes].append(payload)

    def _written(self, cycle: int, result: Result) -> None:
        """The oldest beat that waits for it, of those that have left the machine: others were absorbed."""
        waiting = self._pending[result.warp, result.writes, result.register if result.writes else result.tokens]
        while waiting:
            logged_beat = self.pipeline_log[waiting.popleft()]
            if logged_beat.dispatched is not None or not logged_beat.unit:
                logged_beat.written = cycle
                return


def _returns(beat: Beat) -> bool:
    return beat.last and beat.executes and bool(beat.dest_count or beat.token_writes)


def observed(run: Run, window: range) -> list[LoggedBeat]:
    """Beats that are under way in a window of a golden-model run, warp by warp in the order of the trace.

    Cycles count from the start on, as the counter ``cycles`` does.

    A load that the register file absorbs is never seen to leave: it counts as ended with its last event.
    Raises ``ValueError`` for a configuration that cannot run the kernel.
    """
    scheme, cfg = run.scheme, run.config
    layout, workload = ProbeLayout(scheme.probes(cfg)), workload_of(replace(run, seed=0))
    texts = {static.offset: static.text for static in workload.trace.program if not static.inserted}
    environment, model = Environment(cfg, workload, layout), scheme.golden(cfg, layout)
    watch = Watch(layout, cfg.ports, workload.beats, texts)
    while not environment.done and environment.cycles < window.stop:
        cycle, stimulus = environment.cycles, environment.stimulus()
        word = model.step(stimulus)
        watch.note(cycle, stimulus, word)
        environment.observe(word)
    lost = cfg.gives.absorbs
    pipeline_log = watch.pipeline_log.values()
    found = [one for one in pipeline_log if one.latest >= window.start or not (one.ended or lost)]
    return sorted(found, key=lambda one: (one.warp, one.beat))
