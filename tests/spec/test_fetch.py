"""Which warp gets the next beat, and which hints come back with tokens (docs/machine.md, section 9)."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from tests.golden.scenario import NOP, hand_trace, op
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.contract import Hint
from warpfile.spec.execution import Execution
from warpfile.spec.fetch import Fetch
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.trace import Port
from warpfile.spec.workload import prepare

FOLLOW = Config(warps=4, buffer_depth=3, decode_order="follow")
BEAT = prepare(FOLLOW, hand_trace([op((), 4), NOP])).beats[0]


def sent(fetch: Fetch, cycle: int) -> int:
    """The warp that gets a beat in a cycle, -1 for none."""
    stimulus = Stimulus()
    fetch.send(cycle, stimulus)
    return stimulus.beat_warp if stimulus.beat is not None else -1


def launched(cfg: Config, *warps: int) -> Fetch:
    fetch = Fetch(cfg)
    for warp in warps:
        fetch.launched(warp, deque([BEAT] * 9), 0)
    return fetch


def test_beats_follow_the_last_issuer_then_the_youngest() -> None:
    fetch = launched(FOLLOW, 2, 0, 1)
    assert [sent(fetch, cycle) for cycle in range(10)] == [1, 1, 1, 0, 0, 0, 2, 2, 2, -1]
    for warp in (0, 2):
        fetch.issued(warp, 10)
    assert [sent(fetch, cycle) for cycle in range(11, 14)] == [2, 0, -1]


def test_a_slot_that_is_launched_again_has_not_issued_last() -> None:
    fetch = launched(FOLLOW, 2, 0)
    assert sent(fetch, 0) == 0
    fetch.issued(0, 0)
    fetch.launched(1, deque([BEAT] * 2), 1)
    assert sent(fetch, 1) == 0
    fetch.launched(0, deque([BEAT]), 2)
    fetch.launched(3, deque([BEAT]), 2)
    assert [sent(fetch, cycle) for cycle in range(2, 6)] == [3, 0, 1, 1]


def test_without_it_beats_go_round() -> None:
    fetch = launched(FOLLOW.replace(decode_order="round_robin"), 2, 0, 1)
    assert [sent(fetch, cycle) for cycle in range(4)] == [0, 1, 2, 0]


class Returned(Config):
    """Two bits come back, and tokens of beats without a unit by the port of the SFU."""

    @property
    def token_port(self) -> int:
        return 1

    def hints(self) -> tuple[Hint, ...]:
        return (Hint("tag", 2, returns=True), Hint("other", 3))


def results(beat: Beat, cfg: Config) -> list[tuple[int, int, int]]:
    """Write-back port, tokens and hints of what comes back of a beat."""
    execution, stimulus = Execution(cfg, None), Stimulus(results=[None] * cfg.write_ports)
    execution.issued(0, beat, 0)
    if beat.needs_unit:
        execution.dispatched(0, beat, 1)
    for cycle in range(20):
        execution.drive(cycle, stimulus)
    return [(port, one.tokens, one.hints) for port, one in enumerate(stimulus.results) if one is not None]


def test_hints_come_back_with_tokens_alone() -> None:
    beat = replace(BEAT, dest_count=0, token_writes=4, hints=0b11101)
    assert results(beat, Returned()) == [(0, 4, 0b01)]


def test_tokens_of_a_beat_without_a_unit_come_back_where_the_part_says() -> None:
    beat = replace(BEAT, port=int(Port.NONE), dest_count=0, token_writes=4, hints=0b11101)
    assert results(beat, Returned()) == [(1, 4, 0b01)]
    assert results(beat, Config()) == [(0, 4, 0)]
