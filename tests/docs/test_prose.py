"""Pages that are in plain sentences stay so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.prose import lengths, sentences

ROOT = Path(__file__).resolve().parents[2]
#: Pages that were rewritten. Others have longer sentences: `python -m tests.docs.prose docs/*.md`.
PLAIN = (
    "docs/machine.md",
    "docs/trace.md",
    "docs/architecture.md",
    "docs/integration.md",
    "docs/manifest.md",
    "docs/install.md",
    "docs/tutorial.md",
    "docs/which_scheme.md",
    "docs/adding_a_scheme.md",
    "docs/assumptions.md",
    "docs/schemes/baseline.md",
    "docs/schemes/bow.md",
    "docs/schemes/larf.md",
    "docs/schemes/malekeh.md",
    "docs/schemes/modern.md",
    "docs/schemes/pilot.md",
    "docs/schemes/regmutex.md",
    "docs/schemes/rfc.md",
    "docs/slots/README.md",
    "docs/slots/collectors.md",
    "docs/slots/rf.md",
    "docs/slots/scheduler.md",
)
MEAN, LONGEST = 18, 60  #: words


@pytest.mark.parametrize("page", PLAIN)
def test_sentences_are_short(page: str) -> None:
    found = lengths((ROOT / page).read_text())
    assert len(found) > 10
    assert sum(found) / len(found) <= MEAN and found[-1] <= LONGEST


def test_a_long_sentence_is_counted_in_full() -> None:
    text = (
        "# A title of five words\n\nOne `a b c` two\nthree. Word "
        + "word " * 69
        + "end.\n\n* An item, too.\n\n| cell |\n|---|\n"
    )
    assert lengths(text) == [3, 4, 71]


def test_tables_code_and_headings_are_no_sentences() -> None:
    table, code = "| a b c | d |\n|---|---|\n| e f | g |\n\n", "    code that is long\n\n```\nmore code\n```\n\n"
    text = f"## Head\n\n{table}{code}Text. More: Yes (no). 1. x\n"
    assert [*sentences(text)] == ["Text.", "More:", "Yes (no).", "1. x"]
