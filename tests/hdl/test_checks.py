"""The rule of the checker that no bundled scheme has: a kernel that waits stays as it is."""

import re
import subprocess
from pathlib import Path

import pytest

from warpfile.hdl.checks import checks_verilog
from warpfile.spec.config import Config
from warpfile.spec.contract import Gives
from warpfile.spec.pins import RULES, rules


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


CFG = Told(lanes=1, warps=2)
_BENCH = """\
module bench;
  reg clk = 0, rst = 1, valid = 0, ready = 0;
  reg [{top}:0] payload = 0;
  wire [{rules}:0] wrong;
  {module} #(.STOP(0)) checks (.clk(clk), .rst(rst), .wrong(wrong), {quiet},
    .kernel__valid(valid), .kernel__ready(ready), .kernel__payload(payload));
  task cycle(input [{top}:0] next, input offered, input taken);
    begin
      payload = next; valid = offered; ready = taken;
      #1 if (wrong != 0) $display("broken %b", wrong);
      #1 clk = 1;
      #1 clk = 0;
    end
  endtask
  initial begin
    cycle(0, 0, 0);
    rst = 0;
{cycles}
  end
endmodule
"""

_MISSED = """\
module bench;
  reg clk = 0, rst = 1;
  wire [{top}:0] wrong;
  machine_checks #(.STOP(0)) checks ({pins}, .wrong(wrong));
  initial begin
    #1 clk = 1;
    #1 clk = 0; rst = 0;
    #1 $display("%0d", wrong);
  end
endmodule
"""


def said(folder: Path, *cycles: tuple[int, int, int]) -> list[str]:
    """What the checker prints when a kernel's payload, valid and ready go through these cycles."""
    checker = checks_verilog(CFG, "machine")
    inputs = re.findall(r"^  input (?:\[(\d+):0\] )?(\w+)", checker, re.MULTILINE)
    quiet = [name for _, name in inputs if name not in ("clk", "rst") and not name.startswith("kernel")]
    (top,) = (high for high, name in inputs if name == "kernel__payload")
    steps = "".join(f"    cycle({payload}, {valid}, {ready});\n" for payload, valid, ready in cycles)
    bench = _BENCH.format(
        module="machine_checks",
        top=top,
        rules=len(rules(CFG)) - 1,
        quiet=", ".join(f".{name}(0)" for name in quiet),
        cycles=steps,
    )
    (folder / "bench.v").write_text(checker + bench)
    subprocess.run(["iverilog", "-g2005", "-s", "bench", "-o", folder / "x", folder / "bench.v"], check=True)
    found = subprocess.run(["vvp", "-n", folder / "x"], check=True, capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if "broken" in line or RULES["kernel_held"] in line]


needs_icarus = pytest.mark.needs("iverilog")


@needs_icarus
@pytest.mark.parametrize(("slot", "wrong"), [(0, False), (1, True)])
def test_a_load_of_nobody_that_misses_is_found(tmp_path: Path, slot: int, wrong: bool) -> None:
    cfg = Config(lanes=1, warps=2, scheduler="two_level", active_warps=1, long_from="miss")
    checker = checks_verilog(cfg, "machine")
    given = {"clk": "clk", "rst": "rst", "resident": "2'd1", "missed": f"8'd{slot}", "missed_valid": "1'b1"}
    names = re.findall(r"^  input (?:\[\d+:0\] )?(\w+)", checker, re.MULTILINE)
    pins = ", ".join(f".{name}({given.get(name, 0)})" for name in names)
    bench = _MISSED.format(top=len(rules(cfg)) - 1, pins=pins)
    (tmp_path / "bench.v").write_text(checker + bench)
    subprocess.run(["iverilog", "-g2005", "-s", "bench", "-o", tmp_path / "x", tmp_path / "bench.v"], check=True)
    found = subprocess.run(["vvp", "-n", tmp_path / "x"], check=True, capture_output=True, text=True).stdout
    assert int(found) == wrong << rules(cfg).index("missed_slot")


@needs_icarus
def test_a_kernel_that_waits_may_stay_and_another_may_follow_it(tmp_path: Path) -> None:
    assert not said(tmp_path, (3, 1, 0), (3, 1, 0), (3, 1, 1), (5, 1, 1), (7, 0, 0), (1, 1, 0))


@needs_icarus
@pytest.mark.parametrize("wrong", [(4, 1, 0), (3, 0, 0), (4, 1, 1)])
def test_a_kernel_that_changes_before_it_is_taken_is_found(tmp_path: Path, wrong: tuple[int, int, int]) -> None:
    bit, told = said(tmp_path, (3, 1, 0), wrong)
    assert bit == f"broken {1 << rules(CFG).index('kernel_held'):0{len(rules(CFG))}b}"
    assert told.endswith(RULES["kernel_held"])
