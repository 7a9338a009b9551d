"""``warpfile profile``: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.compiler.tracez import VALUED, version_6
from tests.warpfile.conftest import CODE, Invoke, write_listing
from tests.warpfile.results.profiles.conftest import profile_of
from warpfile.results.profiles import Profile
from warpfile.results.profiles.page import page

FILES = {"--csv": "f.csv", "--json": "f.json", "--html": "f.html", "--trace-events": "t.json", "--konata": "k.log"}


def test_every_file_is_written_and_the_same_again(invoke: Invoke, folder: Path, kernel: Path) -> None:
    options = [word for pair in FILES.items() for word in pair]
    texts = []
    for _ in range(2):
        result = invoke("profile", "baseline", kernel, "--preset", "tiny", *options)
        assert (result.exit_code, result.stderr) == (0, "")
        facts = json.loads((folder / "f.json").read_text())
        assert facts.pop("seconds") > 0
        texts.append([result.stdout, facts, *((folder / n).read_text() for n in FILES.values() if n != "f.json")])
    assert texts[0] == texts[1]
    assert {path.name for path in folder.iterdir() if path.is_file()} == {*FILES.values()}


def test_csv_and_json_say_the_same(invoke: Invoke, folder: Path, kernel: Path) -> None:
    assert invoke("profile", "bow", kernel, "--csv", "f.csv", "--json", "f.json").exit_code == 0
    facts = json.loads((folder / "f.json").read_text())
    rows = list(csv.DictReader((folder / "f.csv").read_text().splitlines()))
    assert [row["instruction"] for row in rows[:-1]] == list(CODE)
    assert [line["text"] for line in facts["lines"]] == [row["instruction"] for row in rows]
    for name in facts["columns"]:
        assert [line[name] for line in facts["lines"]] == [int(row[name]) for row in rows]
        assert facts["totals"][name] == sum(int(row[name]) for row in rows)
    assert facts["totals"]["issued"] == facts["counters"]["beats"] and facts["scheme"] == "bow"


def test_lines_are_sorted_by_a_column_and_cut(invoke: Invoke, kernel: Path) -> None:
    result = invoke("profile", "baseline", kernel, "--sort", "bank_reads", "--top", "1")
    assert "1 of 5 instructions, by bank_reads:" in result.stdout
    assert "STG.E.SYS [R2], R0" in result.stdout and "IMAD.WIDE" not in result.stdout
    every = invoke("profile", "baseline", kernel, "--sort", "bank_reads", "--top", "0").stdout
    assert "IMAD.WIDE" in every and "S2R" not in every  # it reads nothing


def test_the_listing_has_every_instruction_and_label_in_order(invoke: Invoke, kernel: Path) -> None:
    write_listing(kernel, (*CODE[:3], "@!PT BRA `(start)", *CODE[3:]))
    shown = invoke("profile", "baseline", kernel, "--listing").stdout.splitlines()
    head, *lines = shown
    assert head.split()[:2] == ["issued", "cycles"] and head.split()[-2:] == ["offset", "instruction"]
    labels = [line.strip() for line in lines if line.endswith(":")]
    assert labels == ["count:", "start:"]
    texts = [line for line in lines if not line.endswith(":")]
    code = (*CODE[:3], "@!PT BRA `(start)", *CODE[3:])
    assert [line.split("  ")[-1].strip() for line in texts] == [*code, "no instruction"]
    assert all(line.split()[0] == "1" for line in texts[:-1])


def test_an_imported_trace_is_profiled(invoke: Invoke, folder: Path) -> None:
    (folder / "k.traceg").write_text(version_6({0: VALUED}))
    assert invoke("trace", "--accelsim", "k.traceg", "-o", "T.npz").exit_code == 0
    result = invoke("profile", "rfc", "T.npz", "--listing", "--json", "f.json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads((folder / "f.json").read_text())["totals"]["instructions"] == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("baseline", "saxpy", "--sort", "cost"), "--sort must be one of issued, "),
        (("baseline", "saxpy", "--sort", "bypassed_reads"), "not 'bypassed_reads'"),
        (("all", "saxpy"), "SCHEME must be one scheme, not all"),
        (("none", "saxpy"), "SCHEME must be one of baseline, "),
        (("baseline", "none"), "KERNEL must be a bundled kernel"),
        (("baseline", "saxpy", "--trace-events", "."), "must be a file, not a directory"),
        (("baseline", "saxpy", "--html", "."), "must be a file, not a directory"),
        (("baseline", "saxpy", "--set", "warps=0"), "warps must be"),
    ],
)
def test_a_wrong_request_is_one_line(invoke: Invoke, folder: Path, arguments: tuple[str, ...], words: str) -> None:
    result = invoke("profile", *arguments)
    assert result.exit_code == 2 and words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_run_that_fails_leaves_no_file(invoke: Invoke, folder: Path, kernel: Path) -> None:
    for name in FILES.values():
        (folder / name).write_text("old")
    (kernel / "kernel.sass").write_text("nonsense")
    options = [word for pair in FILES.items() for word in pair]
    assert invoke("profile", "baseline", kernel, *options).exit_code == 2
    assert {path.name: path.read_text() for path in folder.iterdir() if path.is_file()} == dict.fromkeys(
        FILES.values(), "old"
    )


class Read(HTMLParser):
    """Rows of the page, its bars, and whatever it would fetch or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows = 0
        self.bars: list[tuple[str, float]] = []
        self.outside: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag != "meta":
            self.open.append(tag)
        self.rows += tag == "tr"
        if tag == "i" and "style" in given:
            self.bars.append((given["class"], float(given["style"].removeprefix("width:").removesuffix("px"))))
        if tag in ("script", "link", "img", "iframe") or {"src", "href"} & given.keys():
            self.outside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "pre":
            self.texts.append(data)


def test_the_page_has_the_listing_beside_its_bars(sort: Profile) -> None:
    found = Read(page(sort))
    code = {line.offset for line in sort.lines}  # one label stands behind it
    labels = sum(len(names) for offset, names in sort.labels.items() if offset in code)
    assert not found.open and not found.outside
    assert found.rows == 1 + len(sort.lines) + labels and labels > 3
    assert [text for text in found.texts if text in {line.text for line in sort.lines}] == [
        line.text for line in sort.lines
    ]
    longest = max(sort.of("to_dispatch", line) for line in range(len(sort.lines)))
    asked = [round(sort.of("to_dispatch", line) / longest * 170, 1) for line in range(len(sort.lines))]
    assert [width for name, width in found.bars if name == "to_dispatch"] == [width for width in asked if width]


def test_text_of_an_input_is_no_markup(kernel: Path) -> None:
    found = profile_of("baseline", kernel)
    lines = (type(found.lines[0])(0, "<script>alert(1)</script>"), *found.lines[1:])
    text = page(Profile(found.run, lines, found.counts, found.operands))
    assert "<script>" not in text and "&lt;script&gt;" in text


def test_a_page_that_fetches_is_noticed() -> None:
    assert Read('<p><img src="x"></img></p>').outside == ["img"]
