"""The prose linter finds the words that the pages do not use, and only in prose."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.docs.pages import pages
from tests.docs.test_prose import PLAIN
from tests.docs.words import LIST, ROOT, Finding, checks, findings, is_exempt, main

PAGE = """# A page

Nobody waits. The line is on
its way; `nobody` is a name.

    nobody reads code

| a cell | nobody |
|---|---|
| 1 | more for ever |

* an item
  that stands besides it
"""


def test_a_word_of_the_list_is_found_on_its_line() -> None:
    own = [one for one in findings(PAGE) if "write" in one.message]
    assert [one.line for one in own] == [3, 3, 8, 10, 13]
    assert own[0] == Finding(3, "'Nobody': write no, some or any warp, beat, unit or user")


@pytest.mark.parametrize("idiom", LIST["words"])
@settings(max_examples=5)
@given(data=st.data())
def test_every_word_of_the_list_can_be_found(idiom: str, data: st.DataObject) -> None:
    word = data.draw(st.from_regex(idiom, fullmatch=True, alphabet=st.characters(max_codepoint=127)))
    assert any(LIST["words"][idiom] in one.message for one in findings(f"The text {word} goes on.\n"))


def test_general_checks_are_on_and_those_left_out_are_off() -> None:
    assert [one.line for one in findings("One.\n\nThis is a blessing in disguise.\n")] == [3]
    assert findings('A row has 4 x 8 bits, "as said". `a` `a`\n') == []
    assert len(checks()) > 50


def test_a_phrase_does_not_go_from_one_paragraph_to_the_next() -> None:
    assert findings("All but\n\nfor one.\n") == []


def test_a_page_with_a_word_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("A beat goes to nobody.\n")
    assert main([str(page)]) == 1
    assert capsys.readouterr().out.startswith(f"{page}:1: 'nobody': write ")
    page.write_text("A beat goes to a unit.\n")
    assert main([str(page)]) == 0


def test_only_generated_pages_are_exempt_and_these_exist() -> None:
    names = [str(path.relative_to(ROOT)) for path in pages(ROOT)]
    assert set(LIST["exempt"]) == {"generated"}
    assert all(fnmatch.filter(names, pattern) for pattern in LIST["exempt"]["generated"])
    assert "README.md" in names and not is_exempt("README.md")
    assert not any(map(is_exempt, PLAIN))
