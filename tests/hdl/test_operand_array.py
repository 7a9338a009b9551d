"""What is synthesised of a word of latches does what simulators see of it."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from warpfile.hdl.clock_gate import CLOCK_GATE_TEXT
from warpfile.hdl.operand_array import LATCHES, LATCHES_TEXT

TEXT = LATCHES_TEXT + CLOCK_GATE_TEXT
CYCLES = 200
#: Of the two, each in a bench of its own, as they are at the end of every cycle. Data come from a register.
_BENCH = """\
module bench;
  reg clk = 0, enable = 0, test = 0;
  reg [31:0] data = 0;
  wire [31:0] word;
  {name} part (.clk(clk), .enable(enable), .test_enable(test), .data(data), .word(word));
  task cycle(input take, input [31:0] next);
    begin
      #1 enable = take;
      #4 clk = 0;
      #4 $display("%h", word);
      #1 clk = 1;
      #1 data = next;
    end
  endtask
  initial begin
{cycles}  end
endmodule
"""
needs_icarus = pytest.mark.needs("iverilog")


def words(folder: Path, text: str, *options: str, bench: str = _BENCH) -> list[str]:
    """The word in every cycle; in the first ones nothing was written."""
    rng = random.Random(5)
    cycles = "".join(f"    cycle({rng.randrange(2)}, {rng.getrandbits(32)});\n" for _ in range(CYCLES))
    (folder / "bench.v").write_text(text + bench.format(name=LATCHES, cycles=cycles))
    subprocess.run(["iverilog", "-g2005", *options, "-s", "bench", "-o", folder / "x", folder / "bench.v"], check=True)
    return subprocess.run(["vvp", "-n", folder / "x"], check=True, capture_output=True, text=True).stdout.split()


@needs_icarus
def test_latches_behind_a_clock_gate_are_what_simulators_see(tmp_path: Path) -> None:
    model, gates = words(tmp_path, TEXT), words(tmp_path, TEXT, "-DSYNTHESIS")
    assert model == gates and len(model) == CYCLES
    assert len(set(model)) > CYCLES / 4, "it is written often"


@needs_icarus
def test_a_clock_gate_that_follows_enable_at_any_time_is_found(tmp_path: Path) -> None:
    right = "if (!clk) open = enable | test_enable;"
    assert right in TEXT
    wrong = words(tmp_path, TEXT.replace(right, "open = enable | test_enable;"), "-DSYNTHESIS")
    assert wrong != words(tmp_path, TEXT)


@needs_icarus
def test_with_the_test_enable_latches_take_their_data_in_every_cycle(tmp_path: Path) -> None:
    bench = _BENCH.replace("test = 0", "test = 1")
    rng = random.Random(5)
    written = [(rng.randrange(2), rng.getrandbits(32)) for _ in range(CYCLES)]
    found = [words(tmp_path, TEXT, *options, bench=bench) for options in ((), ("-DSYNTHESIS",))]
    # A word that was written at the end of one cycle is in the latches, and displayed, in the next one.
    assert found[0] == found[1] and found[0][1:] == [f"{value:08x}" for _, value in written[:-1]]
