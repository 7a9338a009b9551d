"""What a search looks at."""

from __future__ import annotations

import pytest

from warpfile.results.searches.space import COMBINATION, PUBLISHED, RESIZED, Candidate, candidates
from warpfile.schemes import PARTS, SCHEMES, find


def looked_at(*schemes: str, **sizes: dict[str, list[object]]) -> dict[str, Candidate]:
    """Candidates at tiny by name."""
    chosen = [find(name) for name in schemes]
    return {one.name: one for one in candidates(chosen, list(PARTS.values()), "tiny", {}, sizes)}


def test_every_candidate_is_another_machine_and_fits() -> None:
    found = list(looked_at("bow", "bow_wr", "malekeh", bow={"window_entries": [3, 4]}).values())
    seen = {(str(one.parts), str(one.config.to_json())) for one in found}
    assert len(seen) == len(found) > 20
    assert found[0].name == "baseline" and all(one.machine.design for one in found)


def test_parts_that_do_not_fit_are_left_out() -> None:
    pairs = {tuple(part.name for part in one.parts[1:]) for one in looked_at("bow", "rfc", "malekeh").values()}
    assert ("bow", "pilot") in pairs and ("units", "rfc") in pairs
    assert ("bow", "rfc") not in pairs and ("malekeh", "packed") not in pairs  # what rfc and packed want, they lack


def test_kinds_say_what_is_published() -> None:
    found = looked_at("bow_wr", "rfc", bow={"window_entries": [4]})
    kinds = {name: one.kind for name, one in found.items()}
    assert kinds["baseline"] == kinds["bow_wr"] == kinds["bow_wr window_entries=6"] == kinds["rfc"] == PUBLISHED
    assert kinds["baseline+lrr"] == kinds["bow_wr+lrr"] == RESIZED
    assert kinds["bow_wr+pilot"] == kinds["bow_wr+two_level"] == kinds["baseline+two_level"] == COMBINATION


def test_sizes_are_those_of_the_parts_that_a_machine_has() -> None:
    found = looked_at("bow", "malekeh", bow={"window_entries": [3, 4]}, malekeh={"unit_entries": [2, 4]})
    assert found["bow window_entries=3"].sizes == {"window_entries": 3}
    assert found["malekeh unit_entries=2"].kind == RESIZED and "unit_entries" not in found["bow"].machine.changes
    assert "bow window_entries=4" not in found, "that is bow's own size at tiny"


def test_a_machine_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="banks"):
        candidates([SCHEMES["bow"]], list(PARTS.values()), "tiny", {"banks": 777}, {})
