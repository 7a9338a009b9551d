"""Beats between their decode and their dispatch, as the pins show them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from warpfile.spec.beat import NO_VALUE, SCHEME_PINS, Beat, decode_fields, pack_beat, pack_fields, unpack_fields
from warpfile.spec.config import Config
from warpfile.spec.trace import Kind, Port, Space
from warpfile.spec.workload import Workload

#: A lane that is not built: of a beat that executes, but in none of those that are.
_ELSEWHERE = 1 << 31


@dataclass(frozen=True, eq=False)
class Flight:
    """A beat of a warp slot: the fields of its record at the pins, and the beat itself.

    That is the workload's if there is one (``planned`` has the fields that its record should have, except for the
    payload, which is the design's), else what the pins tell of it.
    """

    warp: int
    fields: dict[str, int]
    beat: Beat
    planned: dict[str, int]


class Beats:
    """Follows beats through a machine. With a workload, its warps are launched in its order, and each has its beats."""

    def __init__(self, cfg: Config, workload: Workload | None) -> None:
        self._cfg, self._workload = cfg, workload
        self._waiting = iter([warp for members in workload.ctas for warp in members] if workload else [])
        self._streams: dict[int, Iterator[Beat]] = {}
        self._buffers: dict[int, deque[Flight]] = {}
        self._flying: dict[tuple[int, int], deque[Flight]] = {}
        self._count = 0

    @property
    def under_way(self) -> list[Flight]:
        """Beats that were sent and have neither been dispatched nor needed to be."""
        return [one for held in (self._buffers, self._flying) for flights in held.values() for one in flights]

    @property
    def left(self) -> int:
        """Warps of the workload that have not been launched."""
        waiting = list(self._waiting)
        self._waiting = iter(waiting)
        return len(waiting)

    def launched(self, warp: int) -> None:
        """A warp is in this slot."""
        self._buffers[warp] = deque()
        if self._workload:
            stream = next(self._waiting, None)
            self._streams[warp] = iter(self._workload.warps[stream] if stream is not None else ())

    def decoded(self, record: int) -> Flight:
        """A beat is sent."""
        fields = unpack_fields(decode_fields(self._cfg), record)
        warp = fields["warp"]
        beat = next(self._streams.get(warp, iter(())), None)
        planned: dict[str, int] = {}
        if beat is not None:
            planned = unpack_fields(decode_fields(self._cfg), pack_beat(self._cfg, beat, warp))
            planned["payload"] = fields["payload"]
        flight = Flight(warp, fields, beat or self._unplanned(fields), planned)
        self._buffers.setdefault(warp, deque()).append(flight)
        return flight

    def issued(self, warp: int) -> Flight | None:
        """The head of a buffer leaves it; None if there is none."""
        if not self._buffers.get(warp):
            return None
        flight = self._buffers[warp].popleft()
        if flight.beat.needs_unit:
            self._flying.setdefault((warp, flight.fields["port"]), deque()).append(flight)
        return flight

    def dispatched(self, port: int, warp: int) -> Flight | None:
        """The oldest beat of a warp and port leaves; None if there is none."""
        flying = self._flying.get((warp, port))
        return flying.popleft() if flying else None

    def _unplanned(self, fields: dict[str, int]) -> Beat:
        """Its payload numbers it."""
        self._count += 1
        return beat_of_record(self._cfg, fields, self._count)


def beat_of_record(cfg: Config, fields: dict[str, int], payload: int) -> Beat:
    """A beat as far as its record tells of it, with another payload; of its class of units one with its port."""
    bits = cfg.register_bits
    sources = [fields["sources"] >> slot * bits & (1 << bits) - 1 for slot in range(fields["source_valid"].bit_count())]
    kind, far = fields["kind"], bool(fields.get("long"))
    port = next(unit for unit in Port if cfg.port_of[unit] == fields["port"])
    return Beat(
        payload=payload,
        record=0,
        offset=0,
        port=port,
        kind=int(Kind.SCHEME) if kind == SCHEME_PINS else kind,
        sources=tuple(sources),
        dest=fields["dest"],
        dest_count=fields["dest_count"],
        token_reads=fields["token_reads"],
        token_writes=fields["token_writes"],
        mask=fields["mask"] or (_ELSEWHERE if fields["executes"] else 0),
        first=True,
        last=True,
        expected=(NO_VALUE,) * len(sources),
        space=int(Space.GLOBAL if far else Space.NONE),
        is_load=far,
        full=bool(fields.get("full", True)),
        converged=bool(fields.get("converged", True)),
        hints=fields.get("hints", 0),
        drain=fields.get("drain", 0),
        answered=port is not Port.NONE and cfg.answers(fields.get("hints", 0)),
    )


def dispatch_record(cfg: Config, flight: Flight, fields: tuple[tuple[str, int], ...]) -> int:
    """What has to leave with a beat."""
    hints = flight.fields.get("hints", 0) & (1 << cfg.result_hint_bits) - 1
    return pack_fields(fields, flight.fields | {"hints": hints})
