"""The cocotb side of a replayed lockstep run: it lets the clock run until the harness stops, and tells what it found.

Nothing crosses the VPI but the clock: the harness reads the stream (``sim.stream``) and compares by itself.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

CLOCK_PERIOD = 10
FOUND_VARIABLE = "WARPFILE_REPLAY_FOUND"


@dataclass(frozen=True)
class Found:
    """What a harness found: ``compared`` cycles were equal, then the stream had ended, or broken off, or they differed.

    ``announced`` is the number of cycles in the stream's last record. ``rtl`` and ``golden`` are the words that differ,
    as binary digits of which the first is the fault bit; ``fault`` has the places of a fault.
    """

    compared: int
    ended: bool
    announced: int
    differs: bool
    rtl: str
    golden: str
    faulty: bool
    fault: dict[str, int]
    operands_checked: int
    lanes_checked: int
    seconds: float

    @property
    def equal(self) -> bool:
        """Whether all cycles of a whole stream were compared and were equal."""
        return self.ended and not self.differs and not self.faulty and self.compared == self.announced

    def save(self, path: Path) -> None:
        """Write it for :meth:`load`."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Found:
        """Read it."""
        return cls(**json.loads(path.read_text()))


async def replayed(dut) -> Found:
    """Run the harness until it stops."""
    start = time.perf_counter()
    Clock(dut.clk, CLOCK_PERIOD, unit="ns", impl="gpi").start()
    await RisingEdge(dut.stopped)
    seconds = time.perf_counter() - start
    return Found(
        compared=int(dut.compared.value),
        ended=bool(dut.ended.value),
        announced=int(dut.announced.value),
        differs=bool(dut.differs.value),
        rtl=str(dut.saw.value),
        golden="0" + str(dut.want.value),
        faulty=bool(dut.fault.value),
        fault=fault_of(dut),
        operands_checked=int(dut.operands_checked.value),
        lanes_checked=int(dut.lanes_checked.value),
        seconds=seconds,
    )


def fault_of(dut) -> dict[str, int]:
    """Places of the first wrong operand or record; what is unknown of them is 0."""
    names = ("payload", "warp", "port", "slot", "lanes")
    return {name: number(getattr(dut, f"fault_{name}").value) for name in names}


def number(value, unknown: int = 0) -> int:
    """A value of cocotb's with the bits of ``unknown`` where it is neither 0 nor 1."""
    try:
        return int(value)
    except ValueError:
        bits = reversed(str(value))
        return sum((unknown >> at & 1 if bit not in "01" else int(bit)) << at for at, bit in enumerate(bits))


@cocotb.test()
async def replay(dut) -> None:
    """Write what was found to the file that the environment names."""
    (await replayed(dut)).save(Path(os.environ[FOUND_VARIABLE]))
