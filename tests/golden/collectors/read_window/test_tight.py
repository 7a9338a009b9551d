"""Random machine code whose codes are as short as the machine allows, in every setting, under the watcher."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.golden.collectors.read_window.scenario import configured
from tests.golden.collectors.read_window.tight import tight_trace
from tests.golden.collectors.read_window.watched import watch

SETTINGS: list[dict[str, object]] = [
    {},
    {"variable_delay": 5},
    {"read_ports": 2, "read_window": 2},
    {"unit_interval": 2, "lsu_queue": 1},
    {"reuse_cache": "off", "read_ports": 3},
    {"dependences": "scoreboard"},
    {"dependences": "scoreboard", "alu_latency": 5, "fma_latency": 5, "variable_delay": 4},
    {"read_window": 5, "variable_delay": 8},
]


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_tight_code_reads_what_it_should(changes: dict[str, object]) -> None:
    cfg = configured(latency=9, domains=1, **changes)
    sums: Counter[str] = Counter()
    for seed in range(4):
        trace = tight_trace(cfg, seed, counters=seed > 1)
        sums.update(watch(cfg, trace, loosened=seed if seed % 2 else None).counters)
    assert sums["duplicates"] and sums["forwards"] and sums["write_waits"]
