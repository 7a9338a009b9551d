"""``make fuzz``: every class for some time in a process of its own, guided by coverage; a table of what was found."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_KEPT = Path("build") / "fuzz"
_MEMORY = 2048  #: MiB
_CLASSES = ("listing", "executed", "launch", "array", "trace", "accelsim", "settings")


def main() -> None:
    """Run all classes, or one of them as a child process."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="of all classes together; default 600")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=_CLASSES, action="append", help="this class only; may be repeated")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _child(options.child, options.seed, options.seconds)
    else:
        sys.exit(_all(options.only or _CLASSES, options.seed, options.seconds))


def _all(names: tuple[str, ...], seed: int, seconds: float) -> int:
    from warpfile.display import say, show_table

    rows, problems = [], []
    for name in names:
        command = [sys.executable, "-m", "tests.fuzz", "--child", name, "--seed", str(seed)]
        done = subprocess.run([*command, "--seconds", str(seconds / len(names))], capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if not lines:
            problems.append(f"{name}: the process ended: {' '.join((done.stdout + done.stderr).split())[-400:]}")
            continue
        facts = json.loads(lines[-1])
        rows.append((name, *(facts[key] for key in ("inputs", "per second", "slowest", "MiB", "guided", "problems"))))
        problems += [f"{name}: {problem}" for problem in facts["found"]]
    show_table(("class", "inputs", "per second", "slowest s", "MiB at most", "guided", "problems"), rows)
    for problem in problems:
        say(problem)
    say(f"what was found lies in {_KEPT}" if problems else "no problem was found")
    return 1 if problems else 0


def _child(name: str, seed: int, seconds: float) -> None:
    try:
        import atheris
    except ImportError:
        atheris = None
    if atheris:
        with atheris.instrument_imports(include=["warpfile"]):
            from tests.fuzz.targets import TARGETS
    else:
        from tests.fuzz.targets import TARGETS
    from tests.fuzz.fuzzer import Findings, fuzzed, mutated, watched

    keep, work = _KEPT.resolve(), Path(tempfile.mkdtemp(prefix="warpfile-fuzz-")).resolve()
    os.chdir(work)
    findings = Findings(name, TARGETS[name], watched(work), keep)
    if not atheris:
        fuzzed(findings, seed, seconds, sys.maxsize)
        _tell(findings, False)
        return
    corpus = keep / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = list(TARGETS[name].seeds())
    for number, data in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(data)

    def mutate(data: bytes, most: int, number: int) -> bytes:
        return mutated(data, random.Random(number), TARGETS[name], seeds)[:most]

    limits = ("-timeout=10", f"-rss_limit_mb={_MEMORY}", "-max_len=16384", "-verbosity=0", "-print_final_stats=0")
    end = (f"-max_total_time={seconds:.0f}", f"-seed={seed}")
    options = [sys.argv[0], *end, *limits, str(corpus)]
    atheris.Setup(options, lambda data: _taken(findings, data), custom_mutator=mutate)
    atheris.Fuzz()


def _taken(findings: Any, data: bytes) -> None:
    """Judge one input; libFuzzer ends the process itself, so the figures are told in time."""
    findings.take(data)
    if findings.inputs % 64 == 0:
        _tell(findings, True)


def _tell(findings: Any, guided: bool) -> None:
    facts = {
        "inputs": findings.inputs,
        "per second": findings.inputs / (findings.seconds or 1),
        "slowest": findings.slowest,
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "guided": guided,
        "problems": len(findings.problems),
        "found": list(findings.problems),
    }
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
