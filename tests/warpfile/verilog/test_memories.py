"""The wrappers in examples/memories do what the model of the SRAM does, wherever the machine uses its answer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from warpfile.pages.fpga import WRAPPER, resources, wrapped
from warpfile.schemes import SCHEMES
from warpfile.verilog.generate import generate

FOLDER = WRAPPER.parent
_BENCH = """\
module bench;
  reg clk = 0, read_enable = 0, write_enable = 0, told = 0;
  reg [7:0] read_address = 0, write_address = 0;
  reg [31:0] mask = 0;
  reg [1023:0] write_data = 0;
  wire [1023:0] model, wrapper;
  integer step, lane, checked = 0, wrong = 0;
  model a(clk, read_enable, read_address, write_enable, write_address, mask, write_data, model);
  warpfile_bank_sram b(.clk(clk), .read_enable(read_enable), .read_address(read_address), .write_enable(write_enable),
    .write_address(write_address), .mask(mask), .write_data(write_data), .read_data(wrapper));
  initial begin
    for (step = 0; step < 3000; step = step + 1) begin
      // First every row is written, then reads and writes meet in few of them.
      write_enable = step < 256 || $random;
      read_enable = step >= 256 && $random;
      write_address = step < 256 ? step : $random & 7;
      read_address = $random & 7;
      mask = step < 256 ? 32'hffffffff : $random;
      for (lane = 0; lane < 32; lane = lane + 1) write_data[lane*32 +: 32] = $random;
      told = read_enable && !(write_enable && read_address == write_address);
      #5 clk = 1;
      #1 if (told) begin
        checked = checked + 1;
        if (model !== wrapper) wrong = wrong + 1;
      end
      #4 clk = 0;
    end
    $display("checked %0d, wrong %0d", checked, wrong);
  end
endmodule
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baseline at turing: 256 rows, 32 lanes, two ports."""
    folder = tmp_path_factory.mktemp("made")
    scheme = SCHEMES["baseline"]
    generate(scheme, scheme.configuration("turing"), "turing", folder)
    return folder


@pytest.fixture
def model(made: Path, folder: Path) -> Path:
    """The file with the model of its SRAM."""
    for name in ("baseline.v", "baseline_sram.v"):
        shutil.copy(made / name, name)
    return Path("baseline_sram.v")


def compared(model: Path, *wrapper: Path) -> tuple[int, int]:
    """Reads that were compared, and those that were wrong."""
    Path("model.v").write_text(model.read_text().replace("module warpfile_bank_sram", "module model"))
    Path("bench.v").write_text(_BENCH)
    subprocess.run(["iverilog", "-g2005", "-s", "bench", "-o", "x", "bench.v", "model.v", *wrapper], check=True)
    said = subprocess.run(["vvp", "-n", "x"], check=True, capture_output=True, text=True).stdout.split()
    return int(said[1].rstrip(",")), int(said[3])


WRAPPERS = {"fpga": ("fpga.v",), "foundry": ("foundry.v", "macro.v")}


@pytest.mark.check
@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_equals_the_model(model: Path, name: str) -> None:
    checked, wrong = compared(model, *(FOLDER / file for file in WRAPPERS[name]))
    assert checked > 500 and wrong == 0


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("name", "right", "false"),
    [("fpga", "write_enable && mask[lane]", "write_enable"), ("foundry", "~read_enable", "1'b1")],
)
def test_a_wrong_wrapper_differs(model: Path, name: str, right: str, false: str) -> None:
    first, *others = (FOLDER / file for file in WRAPPERS[name])
    Path("wrong.v").write_text(first.read_text().replace(right, false))
    assert compared(model, Path("wrong.v"), *others)[1] > 0


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("name", WRAPPERS)
def test_the_machine_takes_a_wrapper_once_the_model_is_left_out(model: Path, name: str) -> None:
    sources = [Path("baseline.v"), model, *(FOLDER / file for file in WRAPPERS[name])]
    command = ["iverilog", "-g2005", "-s", "warpfile", "-o", "x", *sources]
    assert subprocess.run(command, capture_output=True, check=False).returncode
    subprocess.run([*command, "-DWARPFILE_NO_SRAM_MODEL"], check=True)


@pytest.mark.check
def test_a_bank_is_block_rams_and_the_gates_of_its_enables() -> None:
    """7 series: two lanes share a RAMB36, which is 72 bits wide in 512 rows; a gate per lane makes its write enable."""
    cfg = SCHEMES["baseline"].configuration("turing")
    found = resources(wrapped(cfg), "warpfile_bank_sram", "xilinx")
    assert found == {"block RAMs": cfg.lanes // 2, "flip-flops": 0, "LUTs": cfg.lanes}


def test_a_wrapper_that_leaves_collisions_open_needs_no_logic_for_them() -> None:
    cfg = SCHEMES["baseline"].configuration("turing", lanes=4)
    open_, strict = wrapped(cfg), wrapped(cfg).replace(", no_rw_check", "")
    assert open_ != strict
    assert resources(open_, "warpfile_bank_sram", "ecp5")["flip-flops"] == 0
    assert resources(strict, "warpfile_bank_sram", "ecp5")["flip-flops"] > 0
