"""The manifest keeps its schema, and what it says of fields is where the packed records have them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.golden.scenario import hand_trace, op
from warpfile.pages.integration import PAGE, RECORDS, page, tables
from warpfile.schemes import SCHEMES
from warpfile.spec.beat import decode_fields, pack_beat, pack_fields
from warpfile.spec.config import Config
from warpfile.spec.encoding import record
from warpfile.spec.trace import Port
from warpfile.spec.workload import prepare

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "warpfile/verilog/manifest.schema.json").read_text())


def check(facts: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(facts)


def leaves(fields: list[dict[str, Any]], offset: int = 0) -> Iterator[tuple[str, int, int]]:
    """Names, lowest bits in the port, and widths of the innermost fields."""
    for field in fields:
        low = offset + field["offset"]
        if "fields" in field:
            yield from leaves(field["fields"], low)
        else:
            yield field["name"], low, field["width"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_manifest_keeps_its_schema_and_describes_every_bit(facts: dict[str, Any]) -> None:
    check(facts)
    packed = {port["name"]: port for port in facts["ports"] if "fields" in port}
    assert {"decode", "launch__payload", "dispatch__0__payload", "result__0__payload", "operands__0"} <= set(packed)
    for port in packed.values():
        at = 0
        for _, low, width in leaves(port["fields"]):
            assert low == at
            at += width
        assert at == port["width"]


@pytest.mark.parametrize("scheme", ["baseline"])
@pytest.mark.parametrize("damage", ["missing", "unknown", "empty", "nested", "type"])
def test_a_damaged_manifest_breaks_the_schema(facts: dict[str, Any], damage: str) -> None:
    broken = copy.deepcopy(facts)
    decode = next(port for port in broken["ports"] if port["name"] == "decode")
    if damage == "missing":
        del broken["top"]
    elif damage == "unknown":
        decode["wdith"] = 3
    elif damage == "empty":
        decode["meaning"] = ""
    elif damage == "nested":
        del decode["fields"][-1]["encoding"]
    else:
        decode["fields"][0]["offset"] = "0"
    with pytest.raises(jsonschema.ValidationError):
        check(broken)


@pytest.mark.parametrize("scheme", ["rfc", "malekeh"])
def test_hints_are_where_a_packed_beat_has_them(facts: dict[str, Any], scheme: str) -> None:
    """One hint at a time, by the configuration's own places, against the nested fields of the manifest."""
    cfg = SCHEMES[scheme].configuration("tiny")
    decode = next(port for port in facts["ports"] if port["name"] == "decode")
    places = {name: (low, width) for name, low, width in leaves(decode["fields"])}
    for hint in cfg.hints():
        values = dict.fromkeys((name for name, _ in decode_fields(cfg)), 0)
        word = pack_fields(decode_fields(cfg), values | {"hints": (1 << hint.bits) - 1 << cfg.hint_at(hint.name)})
        low, width = places[hint.name]
        assert word == (1 << width) - 1 << low and hint.meaning and hint.encoding


@pytest.mark.parametrize("ports", [1, 3, 4, 6])
def test_the_port_that_a_beat_is_packed_with_is_the_one_that_the_encoding_names(ports: int) -> None:
    cfg = Config(ports=ports)
    (field,) = (one for one in record(cfg, decode_fields(cfg)) if one.name == "port")
    names = dict(part.split(" ", 1) for part in field.encoding.split(", "))
    for unit in Port:
        beat = prepare(cfg, hand_trace([op((2,), 3, port=unit)] if unit != Port.NONE else [])).warps[0][0]
        packed = pack_beat(cfg, beat, 0) >> field.offset & (1 << field.width) - 1
        assert unit.name.lower() in names[str(packed)].split("/")


def test_the_tables_of_the_integration_page_are_up_to_date() -> None:
    text = PAGE.read_text()
    assert page(text) == text
    changed = text.replace("| `cta` | 2 |", "| `cta` | 3 |")
    assert changed != text and page(changed) == text
    with pytest.raises(ValueError, match="must have the line"):
        page("# Connecting a machine\n")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_tables_have_the_fields_of_every_record_in_their_order(scheme: str) -> None:
    cfg = SCHEMES[scheme].configuration("tiny")
    for pin, (fields, _) in RECORDS.items():
        section = tables().partition(f"### `{pin}`")[2].partition("###")[0]
        rows = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
        own = [name for name, _ in fields(cfg)]
        assert [name for name in rows if name in own] == own


def test_the_timing_diagrams_are_whole() -> None:
    diagrams = [json.loads(one) for one in re.findall(r"```wavedrom\n(.*?)```", PAGE.read_text(), re.DOTALL)]
    assert len(diagrams) == 3
    for diagram in diagrams:
        assert len({len(signal["wave"]) for signal in diagram["signal"]}) == 1
        assert all(signal["wave"].count("=") == len(signal.get("data", [])) for signal in diagram["signal"])
