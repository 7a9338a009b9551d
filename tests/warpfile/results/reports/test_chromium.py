"""The page in a browser: no errors, and every chart is drawn."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.warpfile.results.reports.made_up import drawn, logged_beat, random_study, study
from tests.warpfile.results.reports.test_charts import text_of
from warpfile import tools
from warpfile.output.display import silent
from warpfile.results.reports.charts import charts
from warpfile.results.reports.facts import facts_of
from warpfile.results.reports.page import page as page_of
from warpfile.results.reports.source import Study
from warpfile.results.reports.svg import pictures, with_stable_ids

BROWSER = tools.find("chromium")
browsed = pytest.mark.needs("chromium")
#: What draws something.
_SHAPES = {"path", "rect", "circle", "line"}


class Drawn(HTMLParser):
    """Counts the shapes with a place in each chart of a page, as a browser left it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.shapes: dict[str, int] = {}
        self._chart, self._depth = "", 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "div" and not self._depth and (given.get("id") or "").startswith("chart-"):
            self._chart = (given["id"] or "").removeprefix("chart-")
            self.shapes[self._chart] = 0
        if self._chart and tag == "div":
            self._depth += 1
        points = [given.get("d") or "", given.get("width") or "", given.get("x1") or ""]
        if self._depth and tag in _SHAPES and any(points):
            self.shapes[self._chart] += 1

    def handle_endtag(self, tag: str) -> None:
        if self._chart and tag == "div":
            self._depth -= 1
            self._chart = self._chart if self._depth else ""


def browse(page: Path) -> tuple[str, list[str]]:
    """The page as Chromium leaves it, and what it had to say on its console."""
    switches = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000"]
    folder = f"--user-data-dir={page.parent / 'profile'}"
    done = subprocess.run(
        [str(BROWSER), *switches, folder, "--enable-logging=stderr", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout, re.findall(r"CONSOLE.*", done.stderr)


def full() -> Study:
    """A study that has every chart."""
    rows = random_study(1).rows
    swept = [{**one, "changes": f"banks={banks}"} for banks in (2, 4) for one in rows if one["scheme"] == "rfc"]
    made = study(*rows, *swept, {**rows[0], "scheme": "bow", "preset": "pascal"})
    about = {"asked": {"pipeline": {"cycles": [0, 20]}}}
    return study(*made.rows, pipeline_log=[logged_beat(0, 1, 0, 2, 4, 5, 9), logged_beat(1, 2, 1, 3)], about=about)


def empty(shapes: Mapping[str, int]) -> list[str]:
    """Charts in which hardly anything is drawn: a chart has axes or a frame at least."""
    return [name for name, count in shapes.items() if count < 5]


@browsed
def test_every_chart_is_drawn_and_the_console_is_silent(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(text_of(full()))
    left, console = browse(page)
    assert console == []
    shapes = Drawn(left).shapes
    assert shapes.keys() == drawn(page.read_text()).keys()
    assert {"overview", "tradeoff", "sweep-banks", "ipc", "cycles", "modules", "pipeline-saxpy"} < shapes.keys()
    assert not empty(shapes)


@browsed
def test_a_page_that_breaks_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    broken = text_of(full()).replace("Plotly.newPlot(", "Plotly.noPlot(", 1)
    page.write_text(broken)
    left, console = browse(page)
    assert any("noPlot" in line for line in console)
    assert empty(Drawn(left).shapes) == ["overview"]


#: Writes the charts whose toolbar lies over text into the page.
_COVERED = """<pre id="covered"></pre><script>
  const hits = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const texts = ".infolayer text, .legend text, .xtick text, .ytick text";
  document.getElementById("covered").textContent = [...document.querySelectorAll(".js-plotly-plot")].filter(chart => {
    const bar = chart.querySelector(".modebar").getBoundingClientRect();
    return [...chart.querySelectorAll(texts)].some(text => hits(bar, text.getBoundingClientRect()));
  }).map(chart => chart.id).join(" ");
</script></body>"""


@browsed
def test_no_toolbar_lies_over_text(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    made = full()
    facts = facts_of(made)
    found = charts(made, facts)

    def covered() -> list[str]:
        page.write_text(page_of(made, facts, found).replace("</body>", _COVERED))
        (names,) = re.findall('<pre id="covered">([^<]*)</pre>', browse(page)[0])
        return str(names).split()

    assert covered() == []
    next(one for one in found if one.name == "overview").figure.update_layout(margin_t=20)
    assert covered() == ["chart-overview"]


@browsed
def test_pictures_are_the_same_every_time_and_hold_what_the_chart_has(tmp_path: Path) -> None:
    made = full()
    chosen = [one for one in charts(made, facts_of(made)) if one.name in ("ipc", "modules")]
    first, second = pictures(chosen, silent), pictures(chosen, silent)
    assert first == second and first.keys() == {"ipc.svg", "modules.svg", "modules-bow_pascal.svg"}
    assert all(text.startswith("<svg") and text.rstrip().endswith("</svg>") for text in first.values())
    assert "malekeh" in first["ipc.svg"] and "window_lane" in first["modules.svg"]


def test_parts_of_a_picture_get_names_that_do_not_change() -> None:
    picture = '<g id="clip{0}xy"><use clip-path="url(#clip{0}xy)"/></g><defs id="defs-{0}"/>'
    assert with_stable_ids(picture.format("6d8c47")) == with_stable_ids(picture.format("a1b2c3"))
    assert with_stable_ids(picture.format("1")) == '<g id="part0"><use clip-path="url(#part0)"/></g><defs id="part1"/>'
