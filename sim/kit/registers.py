"""Values of registers and results that are owed: whether operands and results are what they must be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from warpfile.sim.kit.beats import Flight
from warpfile.sim.kit.pins import Data, Dispatch, Return
from warpfile.spec.beat import result_fields
from warpfile.spec.config import Config
from warpfile.spec.pins import RULES, rules
from warpfile.spec.stimulus import Origin
from warpfile.spec.values import RowValues
from warpfile.spec.workload import Workload

#: A value: its bits, lane 0 lowest, and the lanes in which it is known.
_Value = tuple[int, int]


class Difference(AssertionError):
    """Something at the pins is not what it must be; the message gives what would be right."""


class Registers:
    """Follows what results write, and compares every operand with it. With a workload, operands and results must be
    the values of its trace. Every beat must get the results that it asks for, once and in order.

    ``operands`` and ``results`` count what was compared.
    """

    def __init__(self, cfg: Config, workload: Workload | None) -> None:
        self._cfg, self._trace = cfg, workload.trace if workload else None
        self._rows = RowValues(workload.trace, cfg.lanes) if workload else None
        self._has_origin = "result_origin" in rules(cfg)
        self._values: dict[tuple[int, int], _Value] = {}
        self._taken: dict[Flight, list[_Value]] = {}
        self._owed: list[deque[tuple[Flight, dict[str, int], int]]] = []
        self.operands = self.results = 0

    @property
    def owed(self) -> list[str]:
        """Results that beats still wait for, in words."""
        return [f"a result for {_target(fields)}" for queue in self._owed for _, fields, _ in queue]

    def launched(self, warp: int) -> None:
        """Registers of a new warp hold nothing."""
        self._values = {key: value for key, value in self._values.items() if key[0] != warp}

    def issued(self, flight: Flight) -> None:
        """From here on the operands of a beat are what they are now: whatever would change them waits."""
        beat = flight.beat
        if beat.needs_unit:
            self._taken[flight] = [self._values.get((flight.warp, one), (0, 0)) for one in beat.sources]
        elif beat.executes and beat.token_writes:
            self._owe(flight, [self._tokens(flight)])

    def dispatched(self, left: Dispatch) -> None:
        """Compare the operands of a beat that leaves."""
        flight = left.flight
        assert flight is not None
        bits = self._cfg.data_bits
        for slot, known in enumerate(self._taken.pop(flight)):
            where = f"operand {slot} (R{flight.beat.sources[slot]}) of {name(flight)} at port {left.port}"
            operand = left.operands.at(slot * bits, bits)
            self._compare(where, operand, known, flight)
            self._compare(where, operand, self._row(flight.beat.expected[slot]), flight)
            self.operands += 1
        self._owe(flight, list(self._results(flight)))

    def returned(self, result: Return) -> None:
        """A result is taken: a beat must have asked for it."""
        fields = result.fields
        queue = next((one for one in self._owed if _target(one[0][1]) == _target(fields)), None)
        if queue is None:
            raise Difference(f"a result is returned for {_target(fields)}, which no beat waits for")
        flight, wanted, row = queue.popleft()
        if not queue:
            self._owed.remove(queue)
        for field, value in wanted.items():
            if fields[field] != value:
                raise Difference(
                    f"{field} of the result for {_target(fields)} must be {value:#x}, not {fields[field]:#x}"
                )
        if fields["writes"]:
            if self._has_origin and flight.beat.long != (fields["origin"] >= int(Origin.HIT)):
                raise Difference(f"the result for {_target(fields)}: {RULES['result_origin']}")
            where = f"the result for {_target(fields)}"
            if result.data.undefined & spread(fields["mask"]):
                raise Difference(f"{where} must be 0 or 1 in every bit of the lanes in its mask")
            self._compare(where, result.data, self._row(row), flight)
            self._write(fields, result.data.value)
        self.results += 1

    def _results(self, flight: Flight) -> Iterator[tuple[dict[str, int], int]]:
        """Fields of the results of a beat, as far as they are given, and their rows in the trace."""
        beat, names = flight.beat, [name for name, _ in result_fields(self._cfg)]
        hints = beat.hints & (1 << self._cfg.result_hint_bits) - 1
        given = {"mask": flight.fields["mask"], "full": int(beat.full), "hints": hints}
        for k in range(beat.dest_count):
            fields = {"writes": 1, "warp": flight.warp, "register": beat.dest + k, "component": k, **given}
            fields["tokens"] = 0 if k else beat.token_writes
            row = beat.result_row
            yield {name: fields[name] for name in names if name in fields}, row + k if row >= 0 else row
        if not beat.dest_count and beat.results:
            yield self._tokens(flight)

    def _tokens(self, flight: Flight) -> tuple[dict[str, int], int]:
        return {"writes": 0, "warp": flight.warp, "tokens": flight.beat.token_writes}, -1

    def _owe(self, flight: Flight, results: list[tuple[dict[str, int], int]]) -> None:
        if results:
            self._owed.append(deque((flight, fields, row) for fields, row in results))

    def _row(self, row: int) -> _Value:
        """A value of the trace, in the lanes that the trace has written."""
        if self._rows is None or self._trace is None or row < 0:
            return 0, 0
        return self._rows.packed(row) or 0, int(self._trace.written[row])

    def _write(self, fields: dict[str, int], data: int) -> None:
        key, mask = (fields["warp"], fields["register"]), fields["mask"]
        value, known = self._values.get(key, (0, 0))
        lanes = spread(mask)
        self._values[key] = value & ~lanes | data & lanes, known | mask

    def _compare(self, where: str, data: Data, known: _Value, flight: Flight) -> None:
        lanes = known[1] & flight.fields["mask"]
        wrong = (data.value ^ known[0] | data.undefined) & spread(lanes)
        if wrong:
            low = (wrong & -wrong).bit_length() - 1 & ~31
            right, found = known[0] >> low & 0xFFFFFFFF, data.at(low, 32)
            said = "undefined" if found.undefined else f"{found.value:#x}"
            raise Difference(f"{where} must be {right:#x} in lane {low // 32}, not {said}")


def spread(lanes: int) -> int:
    """All 32 bits of every lane."""
    return sum(0xFFFFFFFF << 32 * lane for lane in range(lanes.bit_length()) if lanes >> lane & 1)


def name(flight: Flight) -> str:
    """A beat in a message."""
    return f"the beat with payload {flight.fields['payload']:#x} of warp {flight.warp}"


def _target(fields: dict[str, int]) -> str:
    what = f"R{fields['register']}" if fields["writes"] else f"tokens {fields['tokens']:#06x}"
    return f"{what} of warp {fields['warp']}"
