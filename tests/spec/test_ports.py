"""Units, execution ports and write-back ports, timed by hand (docs/machine.md, sections 5, 7 and 9)."""

from __future__ import annotations

import pytest

from tests.golden.scenario import Run, hand_trace, op, run
from warpfile.compiler.opcodes import FORMS
from warpfile.spec.config import Config
from warpfile.spec.trace import Port

CLASSES = (Port.ALU, Port.FMA, Port.DOUBLE, Port.TENSOR, Port.SFU)
#: Banks of two ports and units of several requests, so that nothing but ports holds up beats and results.
WIDE = Config(
    **{"banks": 8, "bank_ports": "1R1W", "bank_skew": "none", "collectors": 8, "ports": 6, "write_back_ports": 6},
    **{"alu_latency": 3, "fma_latency": 5, "double_latency": 30, "tensor_latency": 20, "sfu_latency": 10},
    **{"alu_interval": 1, "fma_interval": 2, "double_interval": 8, "tensor_interval": 4, "sfu_interval": 3},
)


def program(cfg: Config, *classes: Port) -> Run:
    """One instruction of each class in turn, without sources, the k-th into register k."""
    return run(cfg, hand_trace([op((), k, port=one) for k, one in enumerate(classes)]))


def dispatches(result: Run) -> list[tuple[int, int]]:
    """Cycle and execution port of every dispatch, in that order."""
    return [(t, port) for t, mask in result.events("dispatch") for port in range(6) if mask >> port & 1]


def writes(result: Run) -> list[tuple[int, int]]:
    """The same of every write and its write-back port."""
    return [(t, port) for t, mask in result.events("write") for port in range(6) if mask >> port & 1]


@pytest.mark.parametrize(
    ("ports", "wanted", "bits"),
    [(1, (0, 0, 0, 0, 0, 0), 2), (3, (0, 0, 0, 0, 1, 2), 2), (4, (0, 1, 1, 1, 2, 3), 3), (6, (0, 1, 2, 3, 4, 5), 3)],
)
def test_classes_have_the_ports_of_the_table(ports: int, wanted: tuple[int, ...], bits: int) -> None:
    cfg = Config(ports=ports)
    assert tuple(cfg.port_of[one] for one in (*CLASSES, Port.LSU)) == wanted
    assert (cfg.port_bits, cfg.port_of[Port.NONE]) == (bits, (1 << bits) - 1)


@pytest.mark.parametrize(
    ("ports", "back", "wanted"),
    [
        (1, 3, (0,)),
        (3, 3, (0, 1, 2)),
        (3, 1, (0, 0, 0)),
        (3, 6, (0, 1, 2)),
        (4, 3, (0, 0, 1, 2)),
        (6, 3, (0, 0, 0, 0, 1, 2)),
        (6, 4, (0, 1, 1, 1, 2, 3)),
        (6, 6, (0, 1, 2, 3, 4, 5)),
    ],
)
def test_execution_ports_return_where_the_table_says(ports: int, back: int, wanted: tuple[int, ...]) -> None:
    cfg = Config(ports=ports, write_back_ports=back)
    assert cfg.write_port_of == wanted
    assert cfg.write_ports == max(wanted) + 1


def test_every_class_has_a_time_of_its_own() -> None:
    # The first beat is dispatched in 3 and one follows in every cycle, each to a port of its own.
    result = program(WIDE, *CLASSES)
    assert dispatches(result) == [(3, 0), (4, 1), (5, 2), (6, 3), (7, 4)]
    assert sorted(writes(result)) == [(3 + 3, 0), (4 + 5, 1), (7 + 10, 4), (6 + 20, 3), (5 + 30, 2)]


@pytest.mark.parametrize(("unit", "interval"), [(Port.ALU, 1), (Port.FMA, 2), (Port.DOUBLE, 8), (Port.TENSOR, 4)])
def test_a_unit_takes_one_beat_per_interval(unit: Port, interval: int) -> None:
    assert [t for t, _ in dispatches(program(WIDE, unit, unit, unit))] == [3, 3 + interval, 3 + 2 * interval]


def test_units_of_one_port_hold_each_other_up() -> None:
    pair = (Port.DOUBLE, Port.ALU, Port.FMA)
    assert dispatches(program(WIDE, *pair)) == [(3, 2), (4, 0), (5, 1)]
    assert dispatches(program(WIDE.replace(ports=4), *pair)) == [(3, 1), (4, 0), (11, 1)]
    assert dispatches(program(WIDE.replace(ports=3), *pair)) == [(3, 0), (11, 0), (12, 0)]


def test_results_that_meet_at_one_write_back_port_take_turns() -> None:
    # Dispatched in 3 and 5 with latencies of 5 and 3: both are there in 8.
    pair = (Port.FMA, Port.SFU, Port.ALU)
    cfg = WIDE.replace(sfu_latency=40)
    assert writes(program(cfg, *pair)) == [(8, 0), (8, 1), (44, 4)]
    assert writes(program(cfg.replace(write_back_ports=3), *pair)) == [(8, 0), (9, 0), (44, 1)]
    assert writes(program(cfg.replace(write_back_ports=1), *pair)) == [(8, 0), (9, 0), (44, 0)]


def test_a_full_queue_stalls_every_unit_that_returns_there() -> None:
    # In 5 one bank is wanted by the SFU's result, which goes first, and by the ALU's, which is there until it is
    # written in 6. So port 0 has a full queue in 5 and 6: the FMA unit waits, unless it has another write-back port.
    cfg = WIDE.replace(
        banks=1, rows=1024, write_back_ports=3, result_queue=1, sfu_interval=1, sfu_latency=2, alu_latency=1
    )
    result = program(cfg, Port.SFU, Port.ALU, Port.FMA)
    assert dispatches(result) == [(3, 4), (4, 0), (7, 1)]
    assert writes(result) == [(5, 1), (6, 0), (12, 0)]
    apart = program(cfg.replace(write_back_ports=4), Port.SFU, Port.ALU, Port.FMA)
    assert dispatches(apart) == [(3, 4), (4, 0), (5, 1)]


@pytest.mark.parametrize(
    ("opcodes", "port"),
    [
        ("IADD3 LOP3 SHF ISETP FSETP FMNMX FSEL MOV SEL", Port.ALU),
        ("FADD FMUL FFMA IMAD HFMA2", Port.FMA),
        ("DADD DMUL DFMA DSETP", Port.DOUBLE),
        ("HMMA IMMA BMMA", Port.TENSOR),
        ("MUFU I2F F2I POPC SHFL S2R", Port.SFU),
        ("LDG STS LDC ATOMS TEX", Port.LSU),
    ],
)
def test_opcodes_have_the_pipelines_of_the_hardware(opcodes: str, port: Port) -> None:
    assert {FORMS[name].port for name in opcodes.split()} == {port}


def test_beats_wait_behind_a_port_and_start_one_per_interval() -> None:
    # The second double starts in 11; only then may the third one leave, which starts in 19.
    three = (Port.DOUBLE, Port.DOUBLE, Port.DOUBLE)
    result = program(WIDE.replace(port_queue=1), *three)
    assert [t for t, _ in dispatches(result)] == [3, 4, 11]
    assert [t for t, _ in writes(result)] == [3 + 30, 11 + 30, 19 + 30]
    assert [t for t, _ in dispatches(program(WIDE.replace(port_queue=2), *three))] == [3, 4, 5]


def test_a_beat_whose_unit_is_free_does_not_wait() -> None:
    for queue in (0, 1):
        result = program(WIDE.replace(port_queue=queue), *CLASSES)
        assert [t for t, _ in dispatches(result)] == [3, 4, 5, 6, 7]
        assert sorted(writes(result)) == [(3 + 3, 0), (4 + 5, 1), (7 + 10, 4), (6 + 20, 3), (5 + 30, 2)]


@pytest.mark.parametrize(("retake", "wanted"), [("next", [3, 5, 7]), ("same", [3, 4, 5])])
def test_a_unit_is_taken_again_behind_its_dispatch_or_in_it(retake: str, wanted: list[int]) -> None:
    cfg = WIDE.replace(collectors=1, retake=retake)
    assert [t for t, _ in dispatches(program(cfg, Port.ALU, Port.ALU, Port.ALU))] == wanted


@pytest.mark.parametrize(("retake", "last"), [("next", 13), ("same", 12)])
def test_a_unit_that_its_port_does_not_take_is_not_free(retake: str, last: int) -> None:
    # The second double leaves in 11.
    cfg = WIDE.replace(collectors=1, retake=retake)
    found = dispatches(program(cfg, Port.DOUBLE, Port.DOUBLE, Port.ALU))
    assert found[1:] == [(11, 2), (last, 0)]
