"""Lockstep runs as JUnit XML, which tools of continuous integration show."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from warpfile.output.display import printable
from warpfile.output.files import write_files
from warpfile.results.studies.plan import Case
from warpfile.results.studies.table import Results
from warpfile.results.studies.tasks import DIFFERENT, FAILED, LOCKSTEP, REFUSED, Done

#: Element of a test that has not passed.
_ELEMENTS = {DIFFERENT: "failure", FAILED: "error", REFUSED: "skipped"}


def write_junit(results: Results, path: Path) -> None:
    """Write one test per lockstep run: a difference fails, a machine that does not fit is skipped."""
    cases = [(case, results.of(case, LOCKSTEP)) for case in results.plan.cases]
    suite = ElementTree.Element("testsuite", name=f"warpfile study {results.plan.name}", tests=str(len(cases)))
    for status, counted in ((DIFFERENT, "failures"), (FAILED, "errors"), (REFUSED, "skipped")):
        suite.set(counted, str(sum(done.status == status for _, done in cases)))
    suite.set("time", f"{sum(_seconds(done) for _, done in cases):.3f}")
    suite.extend(_test(case, done) for case, done in cases)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    write_files({path: ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"})


def _test(case: Case, done: Done) -> ElementTree.Element:
    kernel = (case.kernel.name, case.kernel.setting, f"seed {case.seed}") if case.kernel else ()
    group = f"{case.machine.scheme.name}.{case.machine.preset}"
    name = ", ".join(filter(None, (*kernel, case.machine.changed)))
    test = ElementTree.Element("testcase", classname=group, name=name, time=f"{_seconds(done):.3f}")
    if done.status in _ELEMENTS:
        wrong = ElementTree.SubElement(test, _ELEMENTS[done.status], message=printable(done.error))
        wrong.text = printable(str(done.facts.get("explanation", "")))
    return test


def _seconds(done: Done) -> float:
    """Of the simulation itself, without its build."""
    return float(done.facts.get("seconds", 0.0))
