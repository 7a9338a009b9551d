"""No page says why a number differs unless a run shows it: causes are runs without them, or are called guesses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.warpfile.pages.evidence.made_up import answering
from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table, losses
from warpfile.pages.evidence.command import pages
from warpfile.pages.evidence.converted import is_converted
from warpfile.pages.evidence.study import SEEDS, Outcome, Point, Run, Study
from warpfile.results.markdown import signed
from warpfile.results.spread import Spread

#: Words that give a reason.
REASON = re.compile(
    r"\b(because|since|due to|owing to|therefore|hence|why|reason|caused|explains?|thanks to|comes? from|so that"
    r"|leaves? (few|less|more)|as in the paper|which makes?)\b",
    re.IGNORECASE,
)
OURS = Spread((0.01, 0.02, 0.03))


def reasons(source: str) -> Iterator[str]:
    """Texts of a module, docstrings and guesses apart, that give a reason."""
    tree = ast.parse(source)
    quiet: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            quiet.add(id(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Guess":
            quiet.update(id(part) for part in ast.walk(node))
    for node in ast.walk(tree):
        said = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet
        if said and REASON.search(node.value):
            yield node.value


def test_no_text_of_a_page_gives_a_reason(root: Path) -> None:
    files = sorted((root / "warpfile" / "pages" / "evidence").glob("*.py"))
    assert len(files) > 5
    assert not {path.name: found for path in files if (found := list(reasons(path.read_text())))}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('yield "IPC", "+9%", ours, "ports leave few conflicts to save"', True),
        ('yield f"{share} because loads pass the cache by"', True),
        ('Claim("IPC", "-", ours, signed, (Without("less since", ours),))', True),
        ('Guess("lower because of PTXPlus")', False),
        ('"""Why kernels differ."""', False),
        ('yield "IPC, both, 8 active", "about equal"', False),
    ],
)
def test_a_planted_reason_is_found(line: str, found: bool) -> None:
    assert bool(list(reasons(line))) == found


@pytest.mark.parametrize("name", [name for name, page in pages().items() if not is_converted(page)])
def test_every_cause_of_a_page_is_a_run_or_a_guess(name: str) -> None:
    study, _ = answering()
    claims = list(pages()[name].claims(study))
    assert len(claims) > 5
    for claim in claims:
        assert isinstance(claim, Claim) and all(isinstance(cause, Without | Guess) for cause in claim.causes)
    assert claims_table(claims) in pages()[name].page(study)


def test_a_bare_reason_is_no_cause() -> None:
    with pytest.raises(TypeError, match="a cause must be a run without it or a guess, not 'few warps': IPC"):
        Claim("IPC", "+9%", OURS, signed, ("few warps",))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="figure must be measured, not '\\+3%': one bank"):
        Without("one bank", "+3%")  # type: ignore[arg-type]


def test_a_row_has_both_numbers_and_what_they_differ_by() -> None:
    moved, still = Without("one bank", Spread((0.05, 0.06, 0.07))), Without("slow", Spread((0.011, 0.021, 0.03)))
    claim = Claim("IPC", "+9%", OURS, signed, (moved, still, Guess("other kernels")), which="spmv")
    assert claim.row() == (
        "IPC",
        "+9%",
        "noise: +2.0% ± 2.5 (spmv)",
        "one bank: +6.0% ± 2.5, +4.0 ± 0.0 points; slow: noise: +2.1% ± 2.4, noise: +0.1 ± 0.1 points;"
        " guess: other kernels",
    )
    assert Claim("IPC", "-", OURS, signed).row()[-1] == "-"


def test_kernels_that_lose_are_claims_the_worst_first() -> None:
    """Cycles of four kernels by point; without the cause nobody loses."""
    cycles = {"even": 100, "slower": 110, "slowest": 150, "little": 104}
    base, point, free = (Point(name, "tiny") for name in ("base", "scheme", "free"))
    outcomes = {
        Run(one, kernel, seed): Outcome(cycles[kernel] if one == point else 100, 1, {})
        for one in (base, point, free)
        for kernel in cycles
        for seed in SEEDS
    }
    study = Study(outcomes, tuple(cycles), lambda _: pytest.fail("no trace is needed"))
    found = losses(study, point, base, "none", {"freed": (free, base)})
    assert [claim.row() for claim in found] == [
        ("IPC of slowest, which loses", "none", "-33.3% ± 0.0", "freed: noise: +0.0% ± 0.0, +33.3 ± 0.0 points"),
        ("IPC of slower, which loses", "none", "-9.1% ± 0.0", "freed: noise: +0.0% ± 0.0, +9.1 ± 0.0 points"),
    ]
