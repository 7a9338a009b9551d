"""The package has the records of the manifest, bit for bit, and the instance has every pin, as Verilator sees them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warpfile.schemes import SCHEMES
from warpfile.sim.simulators import verilator_environment, verilator_executable
from warpfile.spec.trace import Kind
from warpfile.verilog.names import Names
from warpfile.verilog.systemverilog import instance, package

NAMES = Names("sm0_", "sm0_rf")


def elaborated(*texts: str, quiet: tuple[str, ...] = ("-Wno-lint", "-Wno-SYMRSVDWORD")) -> list[str]:
    """What Verilator says of a text with module ``test``."""
    Path("test.sv").write_text("\n".join(texts))
    command = [verilator_executable(), "--lint-only", "-Wno-fatal", *quiet, "--top-module", "test", "test.sv"]
    done = subprocess.run(command, capture_output=True, text=True, env=verilator_environment(), check=False)
    return [line for line in done.stderr.splitlines() if line.startswith("%")]


def claims(facts: dict[str, Any]) -> str:
    """A module that complains of every record whose size, and every field whose bits are not those of the manifest."""
    records = {port["name"].partition("__")[0]: port for port in facts["ports"] if "fields" in port}
    lines = [f"module test; import {NAMES.package}::*;"]
    for name, record in records.items():
        lines.append(f'if ($bits({name}_t) != {record["width"]}) $error("size of {name}");')
        if name != "operands":
            for pattern, low, width in patterns(record["fields"]):
                number, bits = len(lines), f"{record['width']}'h{(1 << width) - 1 << low:x}"
                lines.append(f"localparam {name}_t v{number} = '{{{pattern}, default: '0}};")
                lines.append(f'if (v{number} != {bits}) $error("bits of {name}, {pattern}");')
    return "\n".join([*lines, "endmodule"])


def patterns(fields: list[dict[str, Any]], offset: int = 0) -> Iterator[tuple[str, int, int]]:
    """Of every innermost field a pattern that sets it, its lowest bit in the record, and its width."""
    for field in fields:
        low, parts = offset + field["offset"], field.get("fields", [])
        if parts and not parts[0]["name"].isdigit():
            for pattern, at, width in patterns(parts, low):
                yield f"{field['name']}: '{{{pattern}, default: '0}}", at, width
        else:
            yield f"{field['name']}: '1", low, field["width"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_records_are_those_of_the_manifest(facts: dict[str, Any]) -> None:
    asked = claims(facts)
    assert asked.count("$error") > 40
    assert not elaborated(package(facts, NAMES), asked)


@pytest.mark.parametrize("scheme", ["malekeh"])
@pytest.mark.parametrize(
    ("right", "false", "found"),
    [
        ("logic [2:0] warp;", "logic [3:0] warp;", {"size of decode", "bits of decode, executes: '1"}),
        ("logic [15:0] token_reads;", "logic [15:0] payload_;", {"token_reads"}),
        ("logic [1:0] component;", "logic component;", {"size of result"}),
        ("logic [3:0] near_dests;", "logic [3:0] near_sources_;", {"near_dests"}),
    ],
)
def test_a_record_with_another_bit_is_found(facts: dict[str, Any], right: str, false: str, found: set[str]) -> None:
    text = package(facts, NAMES)
    assert right in text
    said = elaborated(text.replace(right, false), claims(facts))
    assert all(any(one in line for line in said) for one in found), said


@pytest.mark.parametrize("scheme", ["malekeh"])
def test_fields_that_change_places_are_found(facts: dict[str, Any]) -> None:
    text = package(facts, NAMES)
    one, other = "logic [15:0] token_reads;", "logic [15:0] token_writes;"
    swapped = text.replace(one, "HERE").replace(other, one).replace("HERE", other)
    said = elaborated(swapped, claims(facts))
    assert len(said) == 2 and "token_reads" in said[0] and "token_writes" in said[1]


@pytest.mark.parametrize("scheme", ["bow_wr", "rfc"])
def test_constants_are_the_values_of_the_manifest(facts: dict[str, Any]) -> None:
    text = package(facts, NAMES)
    found = dict(re.findall(r"^  localparam [^=]*?(\w+) = (?:\d+'d)?(\d+);$", text, re.MULTILINE))
    assert {name: int(value) for name, value in found.items() if name.startswith("KIND")} == {
        "KIND_NORMAL": 0,
        "KIND_PSEUDO_INSTRUCTION": 1,
        "KIND_BARRIER": int(Kind.BARRIER),
        "KIND_EXIT": int(Kind.EXIT),
    }
    assert (found["LANES"], found["WARPS"]) == ("4", str(facts["parameters"]["warps"]))
    assert ("WRITE_CLASS_BOTH" in found) != ("ORIGIN_MISS" in found)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_instance_has_every_pin_with_its_width(facts: dict[str, Any]) -> None:
    ports = (f"{port['direction']} [{port['width'] - 1}:0] {port['name']}" for port in facts["ports"])
    machine = f"module {NAMES.top}({', '.join(ports)}); endmodule\nmodule test;"
    shown, quiet = instance(facts, NAMES), ("-Wno-UNDRIVEN", "-Wno-SYMRSVDWORD")
    assert not elaborated(package(facts, NAMES), machine, shown, "endmodule", quiet=quiet)
    (said,) = elaborated(package(facts, NAMES), machine, shown.replace("  .clk(clk),\n", ""), "endmodule", quiet=quiet)
    assert "PINMISSING" in said
    wide = shown.replace("logic exit;", "logic [1:0] exit;")
    assert any("WIDTH" in line for line in elaborated(package(facts, NAMES), machine, wide, "endmodule", quiet=quiet))
