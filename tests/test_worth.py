"""Planting faults, and the table of what finds them."""

import ast
from types import SimpleNamespace

import pytest

from tests.worth import DRAWN, ROOT, concerned, drawn, faults, of_history, pytest_collection_modifyitems, table


@pytest.mark.parametrize(
    ("source", "planted"),
    [
        ("x = a < b", {"x = (a) <= (b)"}),
        ("x = a == 1", {"x = (a) != (1)"}),
        ("x = a and b and c", {"x = ((a) or (b) or (c))"}),
        ("x = a & b", {"x = ((a) | (b))"}),
        ("x = ~a", {"x = (a)"}),
        ("x = not a", {"x = (a)"}),
        ("x = Mux(a, b, c)", {"x = Mux(a, c, b)"}),
        ("x = f(a) + 1", {"x = ((f(a)) - (1))"}),
        ("x += 1", {"pass"}),
        ("f(a)", {"pass"}),
        ("x: int | None = a", set()),
        ("def f(x: int | None) -> int | None:\n    return x", set()),
        ("x = f(a)", set()),
    ],
)
def test_a_fault_changes_one_operator_or_statement(source: str, planted: set[str]) -> None:
    assert {fault.planted(source) for fault in faults("x.py", source)} == planted


def test_a_fault_says_where_it_is() -> None:
    (fault,) = faults("x.py", "a = 1\nb = (c\n  < d)\n")
    assert (fault.path, fault.line, fault.what) == ("x.py", 2, "c < d -> (c) <= (d)")


@pytest.mark.parametrize("place", DRAWN)
def test_draws_are_repeatable_in_different_sources_and_still_python(place: str) -> None:
    some = drawn(8, 1, place)
    assert some == drawn(8, 1, place) != drawn(8, 2, place)
    assert len({fault.path for fault in some}) == 8
    for fault in some:
        source = (ROOT / fault.path).read_text()
        assert fault.planted(source) != source
        ast.parse(fault.planted(source))


def test_faults_of_the_history_are_in_sources_that_still_are_python() -> None:
    for fault in of_history():
        ast.parse(fault.planted((ROOT / fault.path).read_text()))


def test_a_fault_concerns_the_schemes_with_its_part_and_else_three_of_all() -> None:
    of_all = drawn(sum(1 for _ in (ROOT / "hdl").rglob("*.py")), 1, "hdl")
    (scheme,) = (one for one in of_all if one.path == "hdl/rf/rfc/directory.py")
    (frame,) = (one for one in of_all if one.path == "hdl/frame.py")
    assert concerned(scheme) == {"rfc"}
    assert concerned(frame) == {"baseline", "bow_wr", "rfc"}


def test_tests_of_other_schemes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def item(**values: object) -> SimpleNamespace:
        node = values.pop("node", "tests/sim/test_schemes.py::test_x")
        return SimpleNamespace(callspec=SimpleNamespace(params=values), nodeid=node)

    left_out: list[SimpleNamespace] = []
    hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))
    rfc, composed, malekeh, none = item(name="rfc"), item(name="rfc+las", seed=1), item(name="malekeh"), item(seed=2)
    own, other = (item(node=f"tests/hdl/rf/{part}/test_file.py::test_x") for part in ("rfc", "pilot"))
    items = [rfc, composed, malekeh, none, own, other]
    monkeypatch.setenv("WARPFILE_WORTH", "rfc")
    pytest_collection_modifyitems(SimpleNamespace(hook=hook), items)
    assert (items, left_out) == ([rfc, composed, none, own], [malekeh, other])


def test_the_table_says_what_finds_most_and_what_nothing_else_finds() -> None:
    found = [
        {"failing": ["sim/test_a: x[1]", "sim/test_a: x[2]", "hdl/test_b: y"], "quick": True},
        {"failing": ["sim/test_a: x[2]"], "quick": False},
        {"failing": [], "quick": False},
    ]
    lines = table(found, {"sim/test_a": 50.0, "hdl/test_b": 2.0}).splitlines()
    assert lines[2:4] == ["| sim/test_a | 50 | 2 | 1 | 4.0 |", "| hdl/test_b | 2 | 1 | 0 | 50.0 |"]
    assert lines[-1] == "Of 3 faults make test finds 1, make check 1 more."
