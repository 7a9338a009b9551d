"""From a listing to hint words on beats and to what the machine does with them, and faults on that way."""

from __future__ import annotations

import ast
import importlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.golden.machines import layout_of
from tests.schemes.examples import EXAMPLES
from tests.schemes.worked_hints import VIRTUAL, Example, label
from warpfile.golden.run import observations
from warpfile.schemes import SCHEMES, find
from warpfile.spec.environment import Environment
from warpfile.spec.workload import prepare

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=label)


def must_be_right(example: Example) -> None:
    """Every beat has the sources and hints of the example, and the golden model the example's counts."""
    cfg, scheme = example.config, find(example.scheme)
    workload = prepare(cfg, example.annotated)
    assert [beat.hints for beat in workload.beats] == example.words
    assert [beat.sources for beat in workload.beats if not beat.inserted] == example.sources
    layout = layout_of(example.scheme, cfg)
    model = scheme.golden(cfg, layout)
    list(observations(model, Environment(cfg, workload, layout), 10_000))
    assert {name: model.counters[name] for name in example.counters} == example.counters


def is_wrong(example: Example) -> bool:
    """Whether an example is noticed to be wrong, or a word of it does not even fit its record."""
    try:
        must_be_right(example)
    except (AssertionError, ValueError):
        return True
    return False


@every_example
def test_hints_and_counts_are_those_of_the_example(example: Example) -> None:
    must_be_right(example)


@dataclass(frozen=True)
class Plant:
    """A fault in one function: some text in place of other text, which stands there once."""

    name: str
    scheme: str
    place: str  #: of the function
    old: str
    new: str
    times: int = 1
    user: str = ""  #: module that calls the function; the pass itself unless it is said

    def planted(self, root: Path) -> tuple[Any, str, Any]:
        """Module and name of the function, and the function with the fault."""
        module = importlib.import_module(self.place.partition(":")[0])
        name = self.place.partition(":")[2]
        path = root.joinpath(*module.__name__.split(".")[1:]).with_suffix(".py")
        source = path.read_text()
        node = next(one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef) and one.name == name)
        text = ast.get_source_segment(source, node) or ""
        assert text.count(self.old) == self.times, self.old
        names = dict(vars(module))
        exec(
            compile("from __future__ import annotations\n" + text.replace(self.old, self.new), str(path), "exec"), names
        )
        return module, name, names[name]


_BOW = "warpfile.compiler.passes.bow.annotate:annotate"
_NEAR = "warpfile.spec.schemes.malekeh:near_words"
_CACHED = "warpfile.spec.schemes.rfc:cache_words"
_PREFETCHED = "warpfile.compiler.passes.ltrf.annotate:annotate"
_KILLED = "warpfile.compiler.passes.coalescing.annotate:annotate"
_SOURCES = "warpfile.spec.annotation:on_sources"
_PLACED = "warpfile.compiler.passes.modern.annotate:_words"
_CODED = "warpfile.compiler.passes.modern.annotate:_coded"
_SHARED = "warpfile.compiler.passes.shared.annotate"
_COALESCING = "warpfile.compiler.passes.coalescing.annotate"
_NAMED = "warpfile.compiler.passes.owf.order"
_LEVELED = "warpfile.compiler.passes.shrf.annotate:_words"
_LEVEL = "warpfile.compiler.passes.shrf.annotate:_source"
_DESTS_FIRST = ("(*statics[i].sources, *statics[i].dests)", "(*statics[i].dests, *statics[i].sources)")
_FIRST = ("(beat * source_slots)", "(beat * 0)")
_UNCUT = ("shifted & np.uint64((1 << source_slots) - 1)", "shifted")
_RECORDS = "beat == count[record] - 1"


def shifted(scheme: str, place: str, hint: str) -> Plant:
    """A hint one bit too high."""
    at = f'cfg.hint_at("{hint}")'
    return Plant(f"{hint} is shifted", scheme, place, at, f"({at} + 1)")


def everywhere(hint: str) -> Plant:
    """A code on every beat that should be on the last."""
    old = f"np.where(last, codes.{hint}[record], "
    return Plant(f"{hint} on every beat", "modern", _CODED, old, f"np.where(record >= 0, codes.{hint}[record], ")


def barrier(hint: str) -> tuple[Plant, Plant]:
    """One of the two counters a bit too high, and on every beat."""
    high = Plant(f"{hint} is shifted", "modern", _CODED, "cfg.hint_at(name)", f'cfg.hint_at(name) + (name == "{hint}")')
    last = "np.where(last, getattr", f'np.where(last | (name == "{hint}"), getattr'
    return high, Plant(f"{hint} on every beat", "modern", _CODED, *last)


def shared(hint: str, old: str, new: str) -> tuple[Plant, Plant]:
    """A hint of an access one bit too high, and wrong."""
    high = f'cfg.hint_at(name) + (name == "{hint}")'
    return (
        Plant(f"{hint} is shifted", "larf", f"{_SHARED}:_placed", "cfg.hint_at(name)", high, user=_SHARED),
        Plant(f"{hint} is wrong", "larf", f"{_SHARED}:_words", old, new, user=_SHARED),
    )


PLANTS = (
    shifted("bow_wr", _BOW, "write_class"),
    Plant(
        "write_class on the first beat",
        "bow_wr",
        _BOW,
        "(*(count - 1) * (0,), one << at)",
        "(one << at, *(count - 1) * (0,))",
    ),
    Plant("write_class on every beat", "bow_wr", _BOW, "(*(count - 1) * (0,), one << at)", "count * (one << at,)"),
    shifted("malekeh", _NEAR, "near_dests"),
    Plant("near_dests on the first beat", "malekeh", _NEAR, _RECORDS, "beat == 0"),
    shifted("malekeh", _NEAR, "near_sources"),
    Plant("near_sources of the first beat on all", "malekeh", _NEAR, "(beat * cfg.source_slots)", "(beat * 0)"),
    Plant("near_sources are not cut", "malekeh", _NEAR, "(own & ((1 << cfg.source_slots) - 1))", "own"),
    shifted("rfc", _CACHED, "no_allocate"),
    Plant("no_allocate on the first beat", "rfc", _CACHED, _RECORDS, "beat == 0"),
    shifted("rfc", _CACHED, "suspend"),
    Plant("suspend on the last beat", "rfc", _CACHED, "np.where(beat == 0", f"np.where({_RECORDS}"),
    shifted("rfc", _CACHED, "dead"),
    Plant("dead of the first beat on all", "rfc", _SOURCES, *_FIRST, user="warpfile.spec.schemes.rfc"),
    shifted("rfc", _CACHED, "evict_first"),
    Plant("evict_first is not cut", "rfc", _SOURCES, *_UNCUT, user="warpfile.spec.schemes.rfc"),
    shifted("ltrf_plus", _PREFETCHED, "dead"),
    Plant("dead of the first beat on all", "ltrf_plus", _SOURCES, *_FIRST),
    Plant("dead is not cut", "ltrf_plus", _SOURCES, *_UNCUT),
    *(shifted("modern", _PLACED, hint) for hint in ("positions", "fma", "registers")),
    Plant(
        "positions of the first beat on all",
        "modern",
        _PLACED,
        "in place.slots",
        "in len(place.slots) * place.slots[:1]",
    ),
    Plant("fma of all fixed beats", "modern", _PLACED, "(place.port is Port.FMA)", "place.fixed"),
    Plant("registers on the first beat", "modern", _PLACED, "words[-1]", "words[0]"),
    *(shifted("modern", _CODED, hint) for hint in ("reuse", "stall", "yields", "wait_mask")),
    Plant("reuse is not cut", "modern", _CODED, "(codes.reuse[record] & used)", "codes.reuse[record]"),
    Plant("wait_mask on the last beat", "modern", _CODED, "np.where(first", "np.where(last"),
    *(everywhere(hint) for hint in ("stall", "yields")),
    *(plant for hint in ("write_barrier", "read_barrier") for plant in barrier(hint)),
    *(shifted(scheme, _KILLED, "kill") for scheme in VIRTUAL),
    *(Plant("kill of the first beat on all", scheme, _SOURCES, *_FIRST) for scheme in VIRTUAL),
    *(Plant("kill is not cut", scheme, _SOURCES, *_UNCUT) for scheme in VIRTUAL),
    *shared("access", '_placed(cfg, "access", found.kind)', '_placed(cfg, "access", found.kind ^ 3)'),
    *shared("address_registers", "found.registers,", "found.registers // 2,"),
    *shared("access_size", "sizes[trace.instruction[found.record]]", "sizes[trace.instruction[found.record]] + 1"),
    *shared("address_offset", "found.offset,", "found.offset + np.uint64(4),"),
    replace(shifted("larf", _KILLED, "kill"), user=_COALESCING),
    Plant("kill is not cut", "larf", _SOURCES, *_UNCUT, user=_COALESCING),
    *(shifted("shrf", _LEVELED, hint) for hint in ("suspend", "result_entry", "mrf_skipped")),
    Plant("suspend on the last beat", "shrf", _LEVELED, "words[0] |=", "words[-1] |="),
    Plant("result_entry on the first beat", "shrf", _LEVELED, "words[-1] |=", "words[0] |="),
    Plant("mrf_skipped is never set", "shrf", _LEVELED, "| skipped <<", "| 0 <<"),
    *(shifted("shrf", _LEVEL, hint) for hint in ("source_entry", "bring")),
    Plant("source_entry of the first slot", "shrf", _LEVEL, "slot * cfg.source_entry_bits", "0"),
    Plant("bring of the first slot", "shrf", _LEVEL, 'cfg.hint_at("bring") + slot', 'cfg.hint_at("bring")'),
    Plant("a pair less", "owf", "warpfile.compiler.passes.owf.choice:choose", "members, best)", "members, best - 1)"),
    Plant("destinations first", "owf", f"{_NAMED}:_first_named", *_DESTS_FIRST, user=_NAMED),
    Plant("no register is the first", "owf", f"{_NAMED}:_lowest", "place = 0", "place = unit", user=_NAMED),
)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.scheme}: {plant.name}")
def test_a_fault_between_pass_and_word_is_found(plant: Plant, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, faulty = plant.planted(root)
    hints = next(part.hints for part in find(plant.scheme).chosen if part.hints)
    user = importlib.import_module(plant.user or hints.annotate.partition(":")[0])
    assert getattr(user, name) is getattr(module, name)
    monkeypatch.setattr(user, name, faulty)
    assert any(is_wrong(example) for example in EXAMPLES if example.scheme == plant.scheme)


def test_every_hint_has_plants() -> None:
    for name, scheme in SCHEMES.items():
        hints = {hint.name for hint in scheme.configuration(scheme.preset).hints()}
        for hint in hints:
            faults = [plant for plant in PLANTS if plant.scheme == name and plant.name.startswith(f"{hint} ")]
            assert len(faults) >= 2, f"{name} {hint}"
