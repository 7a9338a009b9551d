"""The cocotb side of a mutation run: one lockstep run per mutant, each in a process of its own.

Starting a simulator, Python and the workload takes longer than most mutants live. So all that is done once, and the
simulation forks at its start: every mutant sees a fresh machine, and as many run at once as there are processors.
"""

from __future__ import annotations

import json
import os
import traceback
from pathlib import Path

import cocotb

from warpfile.sim.bench import Lockstep
from warpfile.sim.plan import PLAN_VARIABLE, Plan

MUTANTS_VARIABLE = "WARPFILE_MUTANTS"
#: Stands for the machine as it was generated.
NO_MUTANT = -1


def outcome_path(plan: Plan, number: int) -> Path:
    """File of the outcome of one mutant; beside it, with the suffix ``.log``, is what its process printed."""
    return plan.outcome.with_name(f"mutant{number}.json")


async def _only(dut, bench: Lockstep, number: int, path: Path) -> None:
    """Run one mutant in this process and end it; an outcome is left unless the run broke off."""
    log = os.open(path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        if number != NO_MUTANT:
            dut.dut.mutsel.value = number
        (await bench.run()).save(path)
    except BaseException:
        os.write(log, traceback.format_exc().encode())
    os._exit(0)


@cocotb.test()
async def mutants(dut) -> None:
    """Run the mutants whose numbers are in the environment, then write the plan's outcome file, which stays empty."""
    plan = Plan.load(Path(os.environ[PLAN_VARIABLE]))
    bench, running = Lockstep(dut, plan), 0
    for number in json.loads(os.environ[MUTANTS_VARIABLE]):
        if running == (os.cpu_count() or 1):
            os.wait()
            running -= 1
        if not os.fork():
            await _only(dut, bench, number, outcome_path(plan, number))
        running += 1
    for _ in range(running):
        os.wait()
    plan.outcome.touch()
