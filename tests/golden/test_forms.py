"""Compiled and as plain Python, the models do the same in every cycle."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

from warpfile.compile import compiled
from warpfile.compiled import VARIABLE, form
from warpfile.golden.run import observations
from warpfile.schemes import SCHEMES
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import prepare
from warpfile.workloads.inputs import obtain_trace

KERNEL = "warp_reduce"


def runs() -> dict[str, tuple[int, str, int]]:
    """Of every scheme: cycles, hash of all observation words, and operands compared with the trace."""
    found = {}
    trace = obtain_trace(KERNEL, "launch", None, lambda *_: None)
    for name, scheme in SCHEMES.items():
        cfg = scheme.configuration(scheme.preset)
        layout = ProbeLayout(scheme.probes(cfg))
        environment = Environment(cfg, prepare(cfg, scheme.annotated(cfg, trace)), layout)
        model, digest = scheme.golden(cfg, layout), hashlib.sha256()
        for word in observations(model, environment):
            digest.update(word.to_bytes(-(-layout.width // 8), "little"))
        found[name] = environment.cycle, digest.hexdigest(), model.operands_checked
    return found


def told(value: str) -> tuple[str, dict[str, list[object]]]:
    """Form and runs of a process with this value of the variable."""
    command = [sys.executable, "-c", "from tests.golden.test_forms import say; say()"]
    done = subprocess.run(command, env={**os.environ, VARIABLE: value}, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    said, found = json.loads(done.stdout)
    return said, found


def say() -> None:
    """Print them."""
    print(json.dumps((form(), runs())))


@pytest.mark.needs("cc", "Python.h")
def test_both_forms_give_the_same_words() -> None:
    compiled()  # unless the sources are compiled already
    (fast, ours), (slow, theirs) = told(""), told("0")
    assert fast.startswith("compiled") and slow.startswith("plain Python")
    assert ours.keys() == set(SCHEMES) and ours == theirs
    assert all(found[0] > 100 and found[2] for found in ours.values())
