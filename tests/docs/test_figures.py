"""The figures of the schemes are drawn from their text."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURES = sorted((ROOT / "docs" / "figures").glob("*.gv"))
SVG = "{http://www.w3.org/2000/svg}"


def described(text: str) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Boxes with their lines of text, and arrows, of a figure's source."""
    boxes = {name: label.split("\\n") for name, label in re.findall(r'^  (\w+) \[label="([^"]*)"', text, re.MULTILINE)}
    return boxes, re.findall(r"^  (\w+) -- (\w+)", text, re.MULTILINE)


def drawn(picture: str) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """The same of its SVG."""
    boxes: dict[str, list[str]] = {}
    arrows: list[tuple[str, str]] = []
    for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        title = group.findtext(f"{SVG}title", "")
        if group.get("class") == "node":
            boxes[title] = [text.text or "" for text in group.iter(f"{SVG}text")]
        elif group.get("class") == "edge":
            first, _, second = title.partition("--")
            arrows.append((first, second))
    return boxes, arrows


@pytest.mark.parametrize("figure", FIGURES, ids=lambda one: one.stem)
def test_the_picture_has_the_boxes_and_arrows_of_its_text(figure: Path) -> None:
    boxes, arrows = described(figure.read_text())
    found = drawn(figure.with_suffix(".svg").read_text())
    assert len(boxes) > 6
    assert {name: [line for line in lines if line] for name, lines in boxes.items()} == {
        name: [line for line in lines if line.strip()] for name, lines in found[0].items()
    }
    assert sorted(arrows) == sorted(found[1])


def test_a_text_that_was_changed_is_found() -> None:
    figure = FIGURES[0]
    boxes, _ = described(figure.read_text().replace('scheduler"', 'chooser"'))
    assert boxes != drawn(figure.with_suffix(".svg").read_text())[0]


def test_every_scheme_page_shows_its_figure() -> None:
    pages = sorted((ROOT / "docs" / "schemes").glob("*.md"))
    shown = {name for page in pages for name in re.findall(r"\.\./figures/(\w+)\.svg", page.read_text())}
    assert shown == {one.stem for one in FIGURES} == {page.stem for page in pages if "-" not in page.stem}
