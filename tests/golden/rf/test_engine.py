"""Engines at the banks: who goes first, who is next, and what a write leaves (docs/slots/rf.md)."""

from __future__ import annotations

import pytest

from warpfile.golden.rf.banks import LAST, RESULTS, Banks, Write
from warpfile.golden.rf.engine import Ask, EnginePort, OwnEngines
from warpfile.spec.config import Config
from warpfile.spec.contract import PRIORITIES, Engine

WRITES = [Ask(0, row, Write(row, 50 + row)) for row in range(4)]
ALL = dict(enumerate(WRITES))


def make(before: str = "reads", **changes: object) -> tuple[Banks, EnginePort]:
    """Two banks, and an engine of four clients that read and write lanes."""
    banks = Banks(Config(banks=2, **changes))  # type: ignore[arg-type]
    return banks, EnginePort(Engine("test", 4, before, reads=True, masked=True), banks)


def cycle(before: str, **changes: object) -> tuple[bool, bool, bool]:
    """One cycle in which results, engine and reads want the same bank: who gets it, in this order."""
    banks, engine = make(before, **changes)
    order = ["results", "reads"]
    order.insert(PRIORITIES.index(before), "engine")
    got = {}
    for who in order:
        if who == "results":
            banks.turn(0, RESULTS)
            got[who] = banks.claim(0, 0)
        elif who == "reads":
            got[who] = bool(banks.read(0, [1, 0], [0], [0]))
        else:
            got[who] = bool(engine.grant(0, {0: WRITES[0]}))
    return got["results"], got["engine"], got["reads"]


@pytest.mark.parametrize(
    ("before", "one_port", "two_ports"),
    [
        ("results", (False, True, False), (False, True, True)),
        ("reads", (True, False, False), (True, False, True)),
        ("last", (True, False, False), (True, False, True)),
    ],
)
def test_who_comes_first_takes_the_port(before: str, one_port: object, two_ports: object) -> None:
    assert cycle(before) == one_port
    assert cycle(before, bank_ports="1R1W") == two_ports


@pytest.mark.parametrize(("before", "expected"), [("reads", [[1], []]), ("last", [[0], []])])
def test_without_a_result_an_engine_goes_before_the_reads_or_after_them(before: str, expected: object) -> None:
    banks, engine = make(before)
    steps = [
        lambda: [client for client, _ in engine.grant(0, {1: WRITES[1]})],
        lambda: [index for index, _, _ in banks.read(0, [1, 0], [0], [0])],
    ]
    assert [step() for step in (steps if before == "reads" else steps[::-1])] == expected


@pytest.mark.parametrize(("before", "turn"), [("results", 1), ("reads", 3)])
def test_an_engine_that_comes_too_late_is_refused(before: str, turn: int) -> None:
    banks, engine = make(before)
    banks.turn(0, turn)
    with pytest.raises(AssertionError, match=f"comes after turn {turn}"):
        engine.grant(0, ALL)
    assert engine.grant(1, ALL)


def test_clients_of_a_bank_go_in_turn() -> None:
    _, engine = make()
    assert [[client for client, _ in engine.grant(t, ALL)] for t in range(5)] == [[0], [1], [2], [3], [0]]
    assert [client for client, _ in engine.grant(5, {0: WRITES[0], 3: WRITES[3]})] == [3]


def test_every_bank_serves_a_client() -> None:
    _, engine = make()
    asks = {0: WRITES[0], 1: WRITES[1], 2: Ask(1, 0, Write(0, 9)), 3: Ask(1, 1)}
    assert sorted(client for client, _ in engine.grant(0, asks)) == [0, 2]
    assert sorted(client for client, _ in engine.grant(1, asks)) == [1, 3]


def test_who_finds_its_port_taken_lets_others_pass() -> None:
    banks, engine = make(bank_ports="1R1W", bank_cycles=2)
    assert banks.claim(0, 0)
    assert engine.grant(0, {0: WRITES[0], 1: Ask(0, 5)}) == [(1, -1)]
    assert engine.grant(1, {0: WRITES[0], 1: Ask(0, 5)}) == []
    assert engine.grant(2, {0: WRITES[0]}) == [(0, -1)]


def test_a_write_is_in_its_row_at_the_end_of_the_cycle() -> None:
    banks, engine = make(bank_ports="1R1W")
    engine.grant(0, {2: WRITES[2]})
    assert banks.read(0, [1, 0], [2], [0]) == [(0, -1, 1)]
    assert banks.edge() == 1
    assert engine.grant(1, {1: Ask(0, 2)}) == [(1, 52)]
    engine.grant(2, {1: Ask(0, 2, Write(2, 60, before=52, lanes=1))})
    banks.edge()
    assert engine.grant(3, {1: Ask(0, 2)}) == [(1, 60)]


def test_an_engine_does_what_it_declares_and_no_more() -> None:
    banks = Banks(Config(banks=2))
    engine = EnginePort(Engine("plain", 1), banks)
    with pytest.raises(AssertionError, match="does not read"):
        engine.grant(0, {0: Ask(0, 1)})
    with pytest.raises(AssertionError, match="writes whole rows"):
        engine.grant(0, {0: Ask(0, 1, Write(1, 2, before=0, lanes=1))})
    with pytest.raises(AssertionError, match="no client 1"):
        engine.grant(0, {1: WRITES[0]})


def own(*engines: Engine) -> tuple[Banks, OwnEngines]:
    """Two banks with two ports each, and engines of the file."""
    banks = Banks(Config(banks=2, bank_ports="1R1W"))
    engine = OwnEngines(engines, banks)
    banks.own = engine.come
    return banks, engine


@pytest.mark.parametrize("before", PRIORITIES)
def test_in_one_place_the_files_own_engine_goes_first(before: str) -> None:
    banks, engines = own(Engine("mine", 2, before))
    theirs = EnginePort(Engine("theirs", 1, before), banks)
    engines.asks = {"mine": {1: WRITES[1]}}
    assert theirs.grant(0, {0: WRITES[0]}) == []
    engines.asks = {"mine": {}}
    assert theirs.grant(1, {0: WRITES[0]}) == [(0, -1)]


def test_own_engines_are_served_in_their_order_even_without_other_requests() -> None:
    banks, engines = own(Engine("late", 1, "last", reads=True), Engine("early", 1, "results"))
    engines.asks = {"late": {0: Ask(0, 1)}, "early": {0: WRITES[1]}}
    engines.come(0, LAST)
    assert [(one.engine, one.copy, one.arrival) for one in engines.served] == [("early", -1, 1), ("late", -1, 1)]
    assert engines.writes == 1
    banks.edge()
    engines.asks = {"late": {0: Ask(0, 1)}, "early": {}}
    engines.come(1, LAST)
    assert [(one.engine, one.copy) for one in engines.served] == [("late", 51)]
    assert engines.writes == 0


def test_own_engines_come_once_in_a_cycle() -> None:
    banks, engines = own(Engine("mine", 4, "results"))
    engines.asks = {"mine": dict(ALL)}
    banks.turn(0, RESULTS)
    banks.turn(0, LAST)
    engines.come(0, LAST)
    assert [one.client for one in engines.served] == [0]
