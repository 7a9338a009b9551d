"""``make fuzz``: every class for some time, guided by coverage and then without; a table of what was found."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_KEPT = Path("build") / "fuzz"
_MEMORY = 2048  #: MiB
_GUIDED = 0.25  #: of the time of a class; following the coverage makes every input several times slower
_CLASSES = ("listing", "cubin", "executed", "launch", "array", "trace", "accelsim", "settings")


def main() -> None:
    """Run all classes, or one of them as a child process."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="of all classes together; default 600")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=_CLASSES, action="append", help="this class only; may be repeated")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--guided", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child = _guided if options.guided else _blind
        child(options.child, options.seed, options.seconds)
    else:
        sys.exit(_all(options.only or _CLASSES, options.seed, options.seconds))


def _all(names: Sequence[str], seed: int, seconds: float) -> int:
    """Every class guided by coverage for a part of its time, then without, several times as fast, on what that kept."""
    from warpfile.output.display import followed, say, show_table

    share = _GUIDED if find_spec("atheris") else 0.0
    rows, problems = [], []
    turns = list(itertools.product(names, (True, False) if share else (False,)))
    for name, guided in followed("fuzz", turns, lambda turn: f"{turn[0]}, {'guided' if turn[1] else 'blind'}"):
        own = seconds / len(names) * (share if guided else 1 - share)
        facts = _run(name, seed, own, guided)
        if isinstance(facts, str):
            problems.append(f"{name}: {facts}")
            continue
        rows.append((name, *(facts[key] for key in ("guided", "inputs", "per second", "slowest", "MiB", "problems"))))
        problems += [f"{name}: {problem}" for problem in facts["found"]]
    show_table(("class", "guided", "inputs", "per second", "slowest s", "MiB at most", "problems"), rows)
    for problem in problems:
        say(problem)
    say(
        f"what was found lies in {_KEPT}"
        if problems
        else f"no problem was found in {sum(row[2] for row in rows):,} inputs"
    )
    return 1 if problems else 0


def _run(name: str, seed: int, seconds: float, guided: bool) -> dict[str, Any] | str:
    """Figures of one child, or how it ended without any."""
    command = [sys.executable, "-m", "tests.fuzz", "--child", name, "--seed", str(seed), "--seconds", str(seconds)]
    done = subprocess.run([*command, *(["--guided"] if guided else [])], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return f"the process ended: {' '.join((done.stdout + done.stderr).split())[-400:]}"
    facts: dict[str, Any] = json.loads(lines[-1])
    return facts


def _begun(name: str) -> tuple[Any, Path]:
    """Findings of a class, and its corpus; from now on the process works in a folder of its own."""
    from tests.fuzz.fuzzer import Findings, watched
    from tests.fuzz.targets import TARGETS

    keep, work = _KEPT.resolve(), Path(tempfile.mkdtemp(prefix="warpfile-fuzz-")).resolve()
    os.chdir(work)
    corpus = keep / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    return Findings(name, TARGETS[name], watched(work), keep), corpus


def _blind(name: str, seed: int, seconds: float) -> None:
    """Mutate whole inputs and what coverage has kept."""
    from tests.fuzz.fuzzer import fuzzed, interrupt

    findings, corpus = _begun(name)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY << 20, _MEMORY << 20))
    interrupt()
    fuzzed(findings, seed, seconds, sys.maxsize, [path.read_bytes() for path in sorted(corpus.iterdir())])
    _tell(findings, False)


def _guided(name: str, seed: int, seconds: float) -> None:
    """Let libFuzzer choose: an input that reaches new code is kept in the corpus."""
    import atheris

    with atheris.instrument_imports(include=["warpfile"]):
        from tests.fuzz.targets import TARGETS
    from tests.fuzz.fuzzer import mutated

    findings, corpus = _begun(name)
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
