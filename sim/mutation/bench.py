"""The cocotb side of a mutation run: one replayed lockstep run per mutant, each in a process of its own.

Starting a simulator takes longer than most mutants live. So that is done once, and the simulation forks at its start:
every mutant sees a fresh machine, reads the recorded stream of the original one from its beginning, and as many run at
once as there are processors.
"""

from __future__ import annotations

import json
import os
import traceback
from pathlib import Path

import cocotb

from warpfile.sim.replay import FOUND_VARIABLE, replayed

MUTANTS_VARIABLE = "WARPFILE_MUTANTS"
#: Stands for the machine as it was generated.
NO_MUTANT = -1


def found_path(finished: Path, number: int) -> Path:
    """File of what one mutant's run found; beside it, with the suffix ``.log``, is what its process printed."""
    return finished.with_name(f"mutant{number}.json")


async def _only(dut, number: int, path: Path) -> None:
    """Run one mutant in this process and end it; a result is left unless the run broke off."""
    log = os.open(path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        if number != NO_MUTANT:
            dut.dut.mutsel.value = number
        (await replayed(dut)).save(path)
    except BaseException:
        os.write(log, traceback.format_exc().encode())
    os._exit(0)


@cocotb.test()
async def mutants(dut) -> None:
    """Run the mutants whose numbers are in the environment, then create the file that it names, which stays empty."""
    finished, running = Path(os.environ[FOUND_VARIABLE]), 0
    for number in json.loads(os.environ[MUTANTS_VARIABLE]):
        if running == (os.cpu_count() or 1):
            os.wait()
            running -= 1
        if not os.fork():
            await _only(dut, number, found_path(finished, number))
        running += 1
    for _ in range(running):
        os.wait()
    finished.touch()
