"""The page of memories at one set of prices."""

from __future__ import annotations

from warpfile.energies import fitting
from warpfile.schemes import SCHEMES


def test_a_scheme_that_a_preset_does_not_fit_is_named_with_the_reason() -> None:
    found, refused = fitting("turing")
    assert {design.scheme.name for design in found} == set(SCHEMES) - {"larf"}
    assert refused == ["Not `larf`: domains must be 1, not 4: stores of other domains do not pass the address table.\n"]
