"""What the configuration of the file of shared rows accepts (docs/schemes/larf.md, section 3)."""

from __future__ import annotations

import numpy as np
import pytest

from warpfile.schemes.compose import find
from warpfile.spec.schemes.shared import SharedConfig, shared_events, shared_probes


def configured(preset: str = "pascal_larf", **changes: object) -> SharedConfig:
    cfg = find("larf").configuration(preset, **changes)
    assert isinstance(cfg, SharedConfig)
    return cfg


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"domains": 4}, "domains must be 1, not 4: stores of other domains"),
        ({"ports": 1, "write_back_ports": 1}, "ports must be at least 3, not 1: beats of the LSU"),
        ({"source_slots": 1}, "source_slots must be at least 2, not 1: an address"),
        ({"coalescing": "row"}, "coalescing must be none, not row"),
        ({"shared_latency": 1}, "shared_latency must be at least 2, not 1: results are shown a cycle early"),
        ({"bank_ports": "1R1W"}, "bank_ports must be 1RW, not 1R1W"),
        ({"table_entries": 513}, "table_entries must be a number from 1 to 512, not 513"),
        ({"search": "all"}, "search must be one of none, perfect, merge, not all"),
    ],
)
def test_what_does_not_work_is_refused_in_one_line(changes: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why) as error:
        configured(**changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("other", ["units", "bow", "bow_wr", "malekeh"])
def test_only_units_that_look_sources_up_fit(other: str) -> None:
    with pytest.raises(ValueError) as error:
        find(f"larf+{other}").configuration("tiny")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("scheduler", ["gto", "lrr", "oldest", "two_level"])
def test_every_scheduler_fits(scheduler: str) -> None:
    assert find(f"larf+{scheduler}").configuration("tiny").scheduler == scheduler


def test_the_variant_without_merges_differs_in_its_search_alone() -> None:
    perfect = find("larf_perfect").configuration("tiny")
    assert perfect == configured("tiny", search="perfect") != configured("tiny")


def test_hints_fit_the_word_of_a_beat_for_any_number_of_sources() -> None:
    assert [configured("tiny", source_slots=slots).hint_bits for slots in (2, 3, 8)] == [57, 58, 63]
    assert configured().result_hint_bits == 0


def test_probes_and_counters_go_together() -> None:
    cfg = configured("tiny")
    fields = {one.name: np.zeros((3, one.width), dtype=bool) for one in shared_probes(cfg)}
    fields["outcome"][:] = [[1, 0, 0], [0, 0, 1], [0, 0, 1]]  # perfect, miss, miss
    fields["decision"][0, :6] = [1, 1, 0, 0, 0, 1]  # renew at port 0, allocate at port 1
    fields["untracked"][1] = [0, 0, 1, 0]
    fields["deleted"][2, :2] = True
    found = {name: count for name, count in shared_events(fields).items() if count}
    told = {"hits_perfect": 1, "misses": 2, "renewals": 1, "allocations": 1, "untracked_stride": 1}
    assert found == told | {"table_deletions": 3}
