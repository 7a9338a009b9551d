"""Proves a part that carries its own properties: yosys makes a model of it, smtbmc asks a solver about that.

The scripts are those of SymbiYosys, whose own program starts yosys three times for every job: here one run in this
process does it, in a tenth of the time.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amaranth import ClockDomain, Elaboratable, Module, Signal
from amaranth.back import rtlil
from amaranth.hdl import Fragment
from amaranth.hdl._ast import Property, Switch

from warpfile import tools, yosys

#: What is left out of the model in every mode, and the options of the runs of smtbmc that must all pass.
MODES = {"prove": ("cover", ((), ("-i",))), "bmc": ("cover", ((),)), "cover": ("assert", (("-c",),))}
_PROGRAMS = Path(sys.executable).parent
#: smtbmc as it is: the program that pip installs for it also loads what runs yosys, half of the time of a small proof.
_SMTBMC = yosys.smtbmc()
_SOLVER = "z3"
_MODEL = """\
read_rtlil top.il
prep -top top
hierarchy -smtcheck
scc -select; simplemap; select -clear
memory_nordff
async2sync
chformal -assume -early
opt_clean
formalff -setundef -clk2ff -ff2anyinit -hierarchy
chformal -live -fair -{without} -remove
opt_clean
check
setundef -undriven -anyseq
opt -fast
opt_clean
hierarchy -smtcheck
delete */t:$print
formalff -assume
dffunmap
write_smt2 -wires top.smt2
"""
_CHECK = re.compile(r'  cell \$check \$\d+\n    parameter \\FORMAT "([^"\n]+)"(.*?)\n  end\n', re.DOTALL)
_STATUS = re.compile(r"Status: (PASSED|FAILED)$", re.MULTILINE)
_FAILED = re.compile(r"(?:Assert failed in|Unreached cover statement at) [\w.]+: (\S+)")


class ProverError(RuntimeError):
    """A tool is missing or stopped without an answer; the text is its own first complaint."""


@dataclass(frozen=True)
class Verdict:
    """Answer of one run. ``failed`` are the messages of what did not hold or was not reached.

    ``trace`` is the counterexample (or the path to the first cover) as a VCD, empty where there is none.
    """

    passed: bool
    failed: tuple[str, ...]
    trace: str


def prove(part: Elaboratable, mode: str, depth: int, only: str | None = None) -> Verdict:
    """Check all assertions (``prove``: by k-induction, ``bmc``: for ``depth`` cycles) or reach all covers (``cover``).

    All registers start with their ``init`` and are never reset. ``only`` is the one assertion to check; a solver that
    has found one violation does not look for others. Raises :class:`ProverError`.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    text, named = label(design(part), only)
    without, runs = MODES[mode]
    with tempfile.TemporaryDirectory(prefix="warpfile-formal-") as name:
        folder = Path(name)
        (folder / "top.il").write_text(text)
        _model(folder, without)
        for options in runs:
            passed, said = _smtbmc(folder, "-t", str(depth), *options)
            if not passed:
                break
        traces = sorted(folder.glob("*.vcd"))
        failed = dict.fromkeys(named.get(cell, cell) for cell in _FAILED.findall(said))
        return Verdict(passed, tuple(failed), traces[0].read_text() if traces else "")


def design(part: Elaboratable) -> str:
    """RTLIL of a part without ports, in a clock domain without reset."""
    m = Module()
    clock = Signal(name="clock")
    m.domains.sync = domain = ClockDomain("sync", reset_less=True)
    m.d.comb += domain.clk.eq(clock)
    m.submodules.properties = part
    return rtlil.convert(m, name="top", ports=[clock], emit_src=False)


def messages(part: Elaboratable) -> dict[str, list[str]]:
    """What a part asserts and covers, each message once, by ``assert`` and ``cover``."""
    found: dict[str, dict[str, None]] = {"assert": {}, "cover": {}}
    for one in _properties(Fragment.get(part, None)):
        found.get(one.kind.value, {})["".join(one.message._chunks) if one.message else ""] = None
    return {kind: [*messages] for kind, messages in found.items()}


def _properties(fragment: Fragment) -> Iterator[Property]:
    """All properties of a design; writing it as RTLIL takes ten times as long."""
    pending = [each for domain in fragment.statements.values() for each in domain]
    for statement in pending:
        if isinstance(statement, Property):
            yield statement
        elif isinstance(statement, Switch):
            pending += [each for _, body, *_ in statement.cases for each in body]
    for child, *_ in fragment.subfragments:
        yield from _properties(child)


def label(text: str, only: str | None) -> tuple[str, dict[str, str]]:
    """Name the checks of a design, because the tools report names; returns the design and the messages by name.

    With ``only`` all other assertions are left out. Raises ``ValueError`` where there is no such assertion.
    """
    named: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        if only and found[1] != only and '"assert"' in found[2]:
            return ""
        cell = f"check{len(named)}"
        named[cell] = found[1]
        return re.sub(r"\$check \$\d+", rf"$check \\{cell}", found[0], count=1)

    labelled = _CHECK.sub(name, text)
    if only and only not in named.values():
        raise ValueError(f"only must be an assertion of the part, not {only!r}")
    return labelled, named


def _model(folder: Path, without: str) -> None:
    """What the solver is asked about, of the design in a folder."""
    (folder / "model.ys").write_text(_MODEL.format(without=without))
    if yosys.here(["-q", "-q", "-l", "yosys.log", "model.ys"], folder):
        raise ProverError(f"yosys stopped: {_problem((folder / 'yosys.log').read_text())}")


def _smtbmc(folder: Path, *options: str) -> tuple[bool, str]:
    """Whether a run passed, and what it said."""
    path = f"{_PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}"
    if tools.find("z3") is None:
        raise ProverError(tools.missing("z3"))
    environment = dict(os.environ, PATH=path, PYTHONPATH=str(_SMTBMC.parent / "share" / "python3"))
    command = [sys.executable, str(_SMTBMC), "-s", _SOLVER, "--presat", "--noprogress", "--dump-vcd"]
    command += ["trace%.vcd" if "-c" in options else "trace.vcd", *options, "top.smt2"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if not _STATUS.search(said):
        raise ProverError(f"smtbmc stopped: {_problem(said)}")
    return not done.returncode, said


def _problem(said: str) -> str:
    """The first complaint of a program."""
    lines = said.splitlines()
    return next((line for line in lines if "ERROR" in line), lines[-1] if lines else "no message")
