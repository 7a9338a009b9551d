"""What the charts of a page show, against the table of the study."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from typing import Any

import pytest

from tests.warpfile.results.reports.made_up import drawn, logged_beat, random_study, row, study
from warpfile.results.reports.charts import charts
from warpfile.results.reports.costs import FROM_KEPT, Cost
from warpfile.results.reports.facts import as_json, facts_of
from warpfile.results.reports.page import page
from warpfile.results.reports.pipeline import lanes
from warpfile.results.reports.source import Row, Study
from warpfile.results.reports.stall_reasons import REASONS, shares
from warpfile.results.reports.style import COLOURS, looks
from warpfile.results.reports.tradeoff import fronts, tradeoff


def text_of(made: Study) -> str:
    facts = facts_of(made)
    return page(made, facts, charts(made, facts))


def test_the_page_shows_what_the_table_says_kernel_by_kernel() -> None:
    made = random_study(7)
    traces = {trace["name"]: trace for trace in drawn(text_of(made))["energy-growth"]}
    assert traces.keys() == {"bow", "malekeh", "rfc"}  # the baseline has not grown over itself
    for name, trace in traces.items():
        places = dict(zip(trace["y"], zip(trace["x"], trace["error_x"]["array"], strict=True), strict=True))
        for kernel in ("saxpy", "spmv", "stencil"):
            values = [
                one["energy_over_baseline"] - 1 for one in made.rows if (one["scheme"], one["kernel"]) == (name, kernel)
            ]
            mean, half = places[kernel]
            assert mean == pytest.approx(statistics.mean(values))
            assert half == pytest.approx(2.776 * statistics.stdev(values) / math.sqrt(5))
        assert places["MEAN"][0] == pytest.approx(
            statistics.mean(places[one][0] for one in ("saxpy", "spmv", "stencil"))
        )


def test_a_changed_table_changes_the_page() -> None:
    made = random_study(7)
    rows = [dict(one) for one in made.rows]
    rows[20]["energy_over_baseline"] += 0.5
    assert drawn(text_of(made))["energy-growth"] != drawn(text_of(study(*rows)))["energy-growth"]


def test_the_same_study_is_the_same_page() -> None:
    assert text_of(random_study(3)) == text_of(random_study(3)) != text_of(random_study(4))


def test_the_front_of_the_page_is_that_of_the_means() -> None:
    made = random_study(5)
    facts = facts_of(made)
    front = drawn(text_of(made))["tradeoff"][0]
    assert front["name"] == "Pareto front"
    names = fronts(made, {})["energy growth against IPC growth"]
    by_name = {made.names[one]: of.values for one, of in facts.items()}
    assert front["x"] == [by_name[name]["energy growth"].mean for name in names]  # type: ignore[union-attr]
    for name, values in by_name.items():
        better = [
            other
            for other in by_name.values()
            if other["energy growth"].mean < values["energy growth"].mean  # type: ignore[union-attr]
            and other["IPC growth"].mean > values["IPC growth"].mean  # type: ignore[union-attr]
        ]
        assert bool(better) != (name in names)


def test_every_machine_is_once_in_the_legend_of_the_trade_offs() -> None:
    made = random_study(1)
    # Of the last two no area is known: they are in the last of the three charts only.
    known = {one: Cost(FROM_KEPT, 1000.0, 0.1, 0.1, None, "", ()) for one in made.machines[:2]}
    chart = tradeoff(made, known, looks(list(made.names.values())))
    assert chart is not None
    traces = [one for one in chart.figure.data if one.mode == "markers"]
    assert [one.name for one in traces if one.showlegend] == [*made.names.values()]
    assert len(traces) == 2 + 2 + 4


def test_cycles_are_shared_out_completely() -> None:
    made = random_study(2)
    for one in made.rows:
        found = shares(one)
        assert found and sum(found.values()) == pytest.approx(1) and min(found.values()) > 0
        assert found["operand stage full"] == one["counter_issue_full"] / one["cycles"]
    bars = drawn(text_of(made))["cycles"]
    assert [bar["name"] for bar in bars] == list(REASONS)
    assert [sum(column) for column in zip(*(bar["x"] for bar in bars), strict=True)] == pytest.approx([1] * 4)


def test_rows_without_counters_have_no_reasons() -> None:
    assert shares(row(cycles=3)) is None
    assert not shares({**random_study(2).rows[0], "counter_issue_full": None})


def test_a_sweep_is_a_curve_over_its_values_in_their_order() -> None:
    growth = {2: 1.1, 10: 1.3, 4: 1.2}
    rows = [row(changes=f"banks=2 window={size}", ipc_over_baseline=ipc) for size, ipc in growth.items()]
    found = drawn(text_of(study(*rows)))
    (curve,) = found["sweep-window"]
    assert "ipc-growth" not in found  # of one kernel the mean says all
    assert curve["x"] == ["2", "4", "10"] and curve["y"] == pytest.approx([0.1, 0.2, 0.3])
    assert curve["name"] == "bow banks=2" and "sweep-banks" not in found


def test_a_sweep_has_the_machine_with_the_default_and_the_gain_of_the_baseline() -> None:
    ipc = {"": (0.5, 1.0), "window=2": (0.4, 0.8), "window=4": (0.9, 1.5)}  # with the default of 3 and without
    rows = [
        row(changes=changes, config_window=int((changes or "=3")[-1]), ipc=ours, ipc_over_baseline=over)
        for changes, (ours, over) in ipc.items()
    ]
    rows.append(row(preset="pascal", config_window=9, ipc=9.0, ipc_over_baseline=1.0))
    absolute, baseline, growth = drawn(text_of(study(*rows)))["sweep-window"]
    assert (absolute["x"], absolute["y"]) == (["2", "3", "4"], [0.4, 0.5, 0.9])
    assert (baseline["name"], baseline["y"]) == ("baseline", pytest.approx([0.5, 0.5, 0.6]))
    assert growth["y"] == pytest.approx([-0.2, 0.0, 0.5])


def test_a_baseline_that_was_swept_is_one_curve() -> None:
    rows = [
        row(scheme, changes=f"banks={banks}", ipc=banks * over, ipc_over_baseline=over)
        for scheme, over in (("baseline", 1.0), ("bow", 1.5))
        for banks in (2, 4)
    ]
    traces = [one for one in drawn(text_of(study(*rows)))["sweep-banks"] if one["y"] == [2.0, 4.0]]
    assert [one["name"] for one in traces] == ["baseline"]
    alone = drawn(text_of(study(*rows[2:], *({**one, "scheme": "rfc", "ipc": 8.0} for one in rows[2:]))))
    assert [one["name"] for one in alone["sweep-banks"][2:4]] == ["baseline of bow", "baseline of rfc"]


def test_ipc_is_shown_beside_its_growth() -> None:
    made = random_study(7)
    found = drawn(text_of(made))
    assert [bars["name"] for bars in found["overview"]][:2] == ["IPC", "IPC growth"]
    traces = {trace["name"]: trace for trace in found["ipc"]}
    assert traces.keys() == {"baseline", "bow", "malekeh", "rfc"}
    for name, trace in traces.items():
        values = [one["ipc"] for one in made.rows if (one["scheme"], one["kernel"]) == (name, "spmv")]
        assert trace["x"][trace["y"].index("spmv")] == pytest.approx(statistics.mean(values))


@pytest.mark.parametrize("kernels", [("a",), ("a", "b")])
def test_a_growth_that_is_zero_everywhere_is_called_identical(kernels: tuple[str, ...]) -> None:
    def cells(*ratios: float) -> list[str]:
        rows = [row(kernel=one, seed=i, ipc_over_baseline=ratio) for one in kernels for i, ratio in enumerate(ratios)]
        return re.findall(r"<td>([^<]*)</td>", text_of(study(*rows)))

    assert "identical" in cells(1.0) and "identical" in cells(1.0, 1.0)
    assert "identical" not in cells(1.1, 0.9) and "identical" not in cells(0.99999)


def test_a_kernel_has_the_same_name_everywhere() -> None:
    counted = {name: value for name, value in random_study(1).rows[0].items() if name.startswith(("counter", "cycles"))}
    rows = [row(setting=setting, ipc_over_baseline=1.5, **counted) for setting in ("launch", "large")]
    rows.append(row("rfc", setting="large", status="refused", error="too large"))
    watched = [{**logged_beat(0, 1, 0, 2, 4, 5, 9), "setting": "large"}]
    text = text_of(study(*rows, pipeline_log=watched))
    assert "<dd>saxpy launch, saxpy large</dd>" in text and "rfc on saxpy large: refused" in text
    assert drawn(text)["ipc-growth"][0]["y"] == ["MEAN", "saxpy launch", "saxpy large"]
    assert '"label":"saxpy large"' in text and "<h2>Pipeline of saxpy large</h2>" in text


def overlaps(rows: list[Row], placed: dict[tuple[int, int], tuple[int, int]], last: int) -> bool:
    """Whether two beats of one lane are there in the same cycle."""
    spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for one in rows:
        end = last if one["written"] is None else one["written"]
        spans.setdefault((one["warp"], placed[one["warp"], one["beat"]][0]), []).append((one["issued"], end))
    ordered = [sorted(some) for some in spans.values()]
    return any(later[0] <= earlier[1] for some in ordered for earlier, later in itertools.pairwise(some))


def test_beats_of_a_lane_do_not_overlap() -> None:
    rows = [
        logged_beat(0, 1, 0, 1, 3, 3, 9),
        logged_beat(0, 2, 0, 2, 4, 5),
        logged_beat(0, 3, 1, 10, 11, 12, 15),
        logged_beat(1, 4, 0, 5),
    ]
    placed = lanes(rows, 20)
    assert placed == {(0, 1): (0, 2), (0, 2): (1, 2), (0, 3): (0, 2), (1, 4): (0, 1)}
    assert not overlaps(rows, placed, 20)
    assert overlaps(rows, dict.fromkeys(placed, (0, 1)), 20)


def test_a_pipeline_shows_the_events_of_the_table() -> None:
    rows = [logged_beat(0, 1, 0, 2, 4, 5, 9), logged_beat(1, 2, 1, 3, None, None, None, unit=False, returns=False)]
    about: dict[str, Any] = {"asked": {"pipeline": {"cycles": [0, 20]}}}
    made = study(row(ipc_over_baseline=1.0), pipeline_log=rows, about=about)
    traces = {trace["name"]: trace for trace in drawn(text_of(made))["pipeline-saxpy"]}
    assert traces["issue"]["x"] == [2, 3] and traces["dispatch"]["x"] == [5] and traces["write-back"]["x"] == [9]
    assert traces["collects its operands"]["x"] == [2, 4, None]
    assert traces["waits for its execution port"]["x"] == [4, 5, None]
    assert traces["executes, waits for write-back"]["x"] == [5, 9, None]
    assert traces["in the instruction buffer"]["x"] == [0, 2, None, 1, 3, None]


def test_names_of_inputs_are_no_markup() -> None:
    text = text_of(study(row(kernel="<script>alert(1)</script>", ipc_over_baseline=1.1, error="<b>", status="ok")))
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text


def test_looks_differ_in_more_than_colour() -> None:
    found = looks([f"machine {number}" for number in range(60)])
    assert len(set(found.values())) == 60
    assert len({one.symbol for one in list(found.values())[: len(COLOURS) + 1]}) == len(COLOURS) + 1


def test_points_that_did_not_run_are_named_with_their_reasons() -> None:
    text = text_of(study(row(ipc_over_baseline=1.0), row("rfc", status="refused", error="too <few> rows")))
    assert "rfc on saxpy: refused: too &lt;few&gt; rows" in text


def test_the_json_has_the_figures_of_the_page() -> None:
    made = random_study(6)
    facts = facts_of(made)
    found = as_json(made, facts, fronts(made, {}))
    (bow,) = (one for one in found["machines"] if one["name"] == "bow")
    trace = next(trace for trace in drawn(text_of(made))["ipc-growth"] if trace["name"] == "bow")
    ipc = {"mean": trace["x"][0], "half": trace["error_x"]["array"][0], "kernels": 3}
    assert bow["ipc_growth"].items() >= ipc.items()
    low, high = bow["ipc_growth"]["low"], bow["ipc_growth"]["high"]
    assert low < ipc["mean"] < high and bow["ipc_growth"]["undecided"] == (low <= 0 <= high)
    assert bow["hits"] == "operands found in a window" and found["prices"] == "pilot"


def test_the_page_says_what_differs_and_whose_sign_is_undecided() -> None:
    ratios = {"a": 1.2, "b": 0.9, "c": 1.1}
    rows = [row(kernel=kernel, ipc_over_baseline=ratio, differs="banks <4>") for kernel, ratio in ratios.items()]
    rows += [row("rfc", kernel=kernel, ipc_over_baseline=1 + ratio, differs="") for kernel, ratio in ratios.items()]
    text = text_of(study(*rows))
    assert "<li>bow: banks &lt;4&gt;</li>" in text
    cells = re.findall(r"<td>((?:undecided: )?[+-]\d[^<]*)</td>", text)
    assert len(cells) == 2 and cells[0].startswith("undecided: +5.9% [-10.0%, +20.0%]") and cells[1].startswith("+10")


def test_a_study_of_areas_alone_has_a_page() -> None:
    bare = {name: one for name, one in row(area_nand2_equivalents=900.0, path_ns=4.0).items() if name != "baseline"}
    for name in ("kernel", "setting", "seed"):
        del bare[name]
    found = drawn(text_of(study(bare, {**bare, "scheme": "rfc"})))
    assert found.keys() == {"overview"}
    (bars,) = found["overview"]
    assert (bars["name"], bars["x"]) == ("critical path, ns", [4.0, 4.0])


def test_the_page_says_whose_prices_it_has_and_who_has_none() -> None:
    rows = [
        row(energy_prices="cacti", energy_priced=0.5),
        row("malekeh"),
        row("baseline", energy_prices="cacti"),
    ]
    page = text_of(study(*rows))
    assert "one set of prices for all rows, cacti" in page and "It has no price of a memory of malekeh." in page
    assert "no price of a memory" not in text_of(study(rows[0], rows[2]))
