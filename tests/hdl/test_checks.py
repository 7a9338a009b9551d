"""The checker of the pins: every rule that lockstep never breaks, broken once and kept once."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from warpfile.hdl.checks import checks_verilog
from warpfile.schemes import SCHEMES
from warpfile.spec.beat import (
    decode_fields,
    kernel_fields,
    launch_fields,
    missed_fields,
    pack_fields,
    result_fields,
)
from warpfile.spec.config import Config
from warpfile.spec.contract import Gives
from warpfile.spec.pins import RULES, rules
from warpfile.spec.stimulus import Origin

pytestmark = pytest.mark.needs("iverilog")


class Told(Config):
    """Of a register file that is told of kernels."""

    @property
    def gives(self) -> Gives:
        """The handshake."""
        return Gives(kernel=True)

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """A field of the kernel."""
        return (("base", 4),)


TOLD = Told(lanes=1, warps=2)
MISSES = Config(lanes=1, warps=2, scheduler="two_level", active_warps=1, long_from="miss")
CACHED = SCHEMES["rfc"].configuration("tiny", lanes=2, warps=2, active_warps=2)
READY = {"decode_ready": 3, "resident": 3}
Pins = Mapping[str, int]

_BENCH = """\
module bench;
  reg clk = 0;
{declared}  wire [{rules}:0] wrong;
  machine_checks #(.STOP(0)) checks (.clk(clk), .wrong(wrong){pins});
  task cycle;
    begin
      #1 $display("wrong %b", wrong);
      #1 clk = 1;
      #1 clk = 0;
    end
  endtask
  initial begin
{cycles}  end
endmodule
"""


def broken(folder: Path, cfg: Config, *cycles: Pins, reset: bool = True) -> list[set[str]]:
    """Rules that are broken in each cycle; a pin that a cycle does not name is 0. A reset comes first."""
    checker = checks_verilog(cfg, "machine")
    inputs = {name: int(top or 0) + 1 for top, name in re.findall(r"^  input (?:\[(\d+):0\] )?(\w+)", checker, re.M)}
    del inputs["clk"]
    given = [{"rst": 1}, *cycles] if reset else cycles
    assert {name for pins in given for name in pins} <= set(inputs)
    steps = (
        "".join(f"    {name} = {width}'d{pins.get(name, 0)};\n" for name, width in inputs.items()) + "    cycle;\n"
        for pins in given
    )
    bench = _BENCH.format(
        declared="".join(f"  reg [{width - 1}:0] {name};\n" for name, width in inputs.items()),
        rules=len(rules(cfg)) - 1,
        pins="".join(f", .{name}({name})" for name in inputs),
        cycles="".join(steps),
    )
    (folder / "bench.v").write_text(checker + bench)
    subprocess.run(["iverilog", "-g2005", "-s", "bench", "-o", folder / "x", folder / "bench.v"], check=True)
    said = subprocess.run(["vvp", "-n", folder / "x"], check=True, capture_output=True, text=True).stdout
    found = []
    for line in re.findall(r"^wrong ([01]+)$", said, re.M):
        names = {name for number, name in enumerate(rules(cfg)) if line[-1 - number] == "1"}
        assert all(RULES[name] in said for name in names)
        found.append(names)
    assert len(found) == len(given)
    return found[reset:]


def record(fields: tuple[tuple[str, int], ...], **values: int) -> int:
    return pack_fields(fields, {name: 0 for name, _ in fields} | values)


def beat(cfg: Config, **values: int) -> dict[str, int]:
    """A cycle in which a beat is sent that writes R4 of warp 1."""
    given = {"warp": 1, "executes": 1, "dest": 4, "dest_count": 1, "mask": 1} | values
    return {**READY, "decode_valid": 1, "decode": record(decode_fields(cfg), **given)}


def result(cfg: Config, ready: int = 1, **values: int) -> dict[str, int]:
    """A cycle in which its result is shown."""
    given = {"writes": 1, "warp": 1, "register": 4, "mask": 1} | values
    return {"result__0__valid": 1, "result__0__ready": ready, "result__0__payload": record(result_fields(cfg), **given)}


def kernel(registers: int, valid: int, ready: int) -> dict[str, int]:
    payload = record(kernel_fields(TOLD), registers=registers)
    return {"kernel__valid": valid, "kernel__ready": ready, "kernel__payload": payload}


def missed(warp: int) -> dict[str, int]:
    return {"resident": 1, "missed_valid": 1, "missed": record(missed_fields(MISSES), warp=warp, dest=4, dest_count=1)}


def test_a_kernel_that_waits_may_stay_and_another_may_follow_it(tmp_path: Path) -> None:
    steps = ((3, 1, 0), (3, 1, 0), (3, 1, 1), (5, 1, 1), (7, 0, 0), (1, 1, 0))
    assert not any(broken(tmp_path, TOLD, *(kernel(*step) for step in steps)))


@pytest.mark.parametrize("wrong", [(4, 1, 0), (3, 0, 0), (4, 1, 1)])
def test_a_kernel_that_changes_before_it_is_taken_is_found(tmp_path: Path, wrong: tuple[int, int, int]) -> None:
    assert broken(tmp_path, TOLD, kernel(3, 1, 0), kernel(*wrong)) == [set(), {"kernel_held"}]


def launch(warp: int, cta: int, ready: int = 1) -> dict[str, int]:
    payload = record(launch_fields(CACHED), warp=warp, cta=cta)
    return {"launch__valid": 1, "launch__ready": ready, "launch__payload": payload}


#: Of a beat that writes nothing.
SENT = beat(CACHED, warp=0, dest_count=0)


def test_all_warps_of_a_cta_are_launched_before_the_first_beat_of_one(tmp_path: Path) -> None:
    other = [launch(0, 1), launch(1, 1), SENT]
    ended = [launch(0, 1), SENT, {"retired": 1}, launch(1, 1)]
    again = [launch(0, 1), SENT, {"rst": 1}, launch(1, 1)]
    for right in (other, ended, again, [launch(0, 1), SENT, launch(1, 0)], [launch(0, 1), {**SENT, **launch(1, 1)}]):
        assert not any(broken(tmp_path, CACHED, *right))
    assert broken(tmp_path, CACHED, launch(0, 1), SENT, launch(1, 1, ready=0))[2] == {"launch_cta"}


def test_a_load_that_waits_may_miss(tmp_path: Path) -> None:
    assert broken(tmp_path, MISSES, beat(MISSES, warp=0, long=1), missed(0)) == [set(), set()]


def test_a_miss_without_its_load_is_found(tmp_path: Path) -> None:
    assert broken(tmp_path, MISSES, beat(MISSES, long=1), missed(1)) == [set(), {"missed_slot"}]
    assert broken(tmp_path, MISSES, beat(MISSES, long=1), missed(0)) == [set(), {"missed_asked"}]


def test_results_may_come_once_for_each_register_that_a_beat_writes(tmp_path: Path) -> None:
    sent = beat(CACHED, dest_count=2)
    shown = [result(CACHED, ready=0), result(CACHED), result(CACHED, register=5)]
    assert not any(broken(tmp_path, CACHED, sent, *shown))


@pytest.mark.parametrize(
    "unasked",
    [
        (result(CACHED),),
        (beat(CACHED), result(CACHED), result(CACHED)),
        (beat(CACHED), result(CACHED, register=5)),
        (beat(CACHED), result(CACHED, warp=0)),
        (beat(CACHED, executes=0, mask=0), result(CACHED)),
        (beat(CACHED), {"rst": 1}, result(CACHED)),
    ],
)
def test_a_result_without_a_waiting_beat_is_found(tmp_path: Path, unasked: tuple[Pins, ...]) -> None:
    *before, last = broken(tmp_path, CACHED, *unasked)
    assert last == {"result_asked"}
    assert not any(before)


@pytest.mark.parametrize("field", ["mask", "full", "hints"])
def test_a_result_that_says_something_else_than_its_beat_is_found(tmp_path: Path, field: str) -> None:
    for sent, given, wrong in ((1, 1, False), (1, 0, True), (0, 1, True)):
        _, found = broken(tmp_path, CACHED, beat(CACHED, **{field: sent}), result(CACHED, **{field: given}))
        assert found == ({"result_record"} if wrong else set())


def test_the_second_of_two_results_must_have_its_number(tmp_path: Path) -> None:
    cfg = SCHEMES["malekeh"].configuration("tiny", lanes=1, warps=2)
    for component, wrong in ((1, set()), (0, {"result_record"})):
        found = broken(
            tmp_path, cfg, beat(cfg, dest_count=2), result(cfg), result(cfg, register=5, component=component)
        )
        assert found == [set(), set(), wrong]


@pytest.mark.parametrize("origin", Origin)
@pytest.mark.parametrize("long", [0, 1])
def test_results_of_long_beats_come_from_memory_and_others_do_not(tmp_path: Path, long: int, origin: Origin) -> None:
    _, found = broken(tmp_path, CACHED, beat(CACHED, long=long), result(CACHED, origin=int(origin)))
    assert found == (set() if bool(long) == (origin in (Origin.HIT, Origin.MISS)) else {"result_origin"})


def test_two_beats_that_write_one_register_get_their_results_in_order(tmp_path: Path) -> None:
    sent = [beat(CACHED, long=1), beat(CACHED)]
    shown = [result(CACHED, origin=int(Origin.HIT)), result(CACHED)]
    assert not any(broken(tmp_path, CACHED, *sent, *shown))
    assert broken(tmp_path, CACHED, *sent, *reversed(shown))[2:] == [{"result_origin"}, {"result_origin"}]


def test_nothing_is_said_before_the_first_reset(tmp_path: Path) -> None:
    wrong = {"decode_valid": 1, **result(CACHED)}
    assert broken(tmp_path, CACHED, wrong, {"rst": 1}, wrong, reset=False) == [
        set(),
        set(),
        {"decode_room", "decode_slot", "result_asked"},
    ]
