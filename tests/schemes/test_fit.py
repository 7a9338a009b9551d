"""What fits together, and the one line about what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.schemes import toy
from warpfile.schemes import PARTS, SCHEMES, Part, Scheme, composed, find
from warpfile.schemes.part import AT_ONCE, RENAMED, RESIDENCY
from warpfile.spec.config import Config
from warpfile.spec.contract import Engine, Gives
from warpfile.spec.presets import PRESETS


def machine(*parts: Part) -> Scheme:
    """The baseline with these parts in place of its own."""
    return composed(SCHEMES["baseline"], parts)


def refusal(scheme: Scheme, preset: str = "", **changes: object) -> str:
    """Why a scheme is refused, in one line."""
    with pytest.raises(ValueError) as error:
        scheme.configuration(preset or scheme.preset, **changes)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bow+rfc", f"bow wants {AT_ONCE} or {RENAMED}, which rfc does not offer"),
        ("bow_wr+rfc", f"bow wants {AT_ONCE} or {RENAMED}, which rfc does not offer"),
        ("malekeh+rfc", "malekeh wants places in the cycle of the offer, which rfc does not offer"),
        ("rfc+malekeh", "malekeh wants places in the cycle of the offer, which rfc does not offer"),
        ("rfc+gto", "rfc wants a scheduler with places, which gto and units do not offer"),
        ("baseline+lrr+rfc", "rfc wants a scheduler with places, which lrr and units do not offer"),
        ("rfc+bow", f"bow wants {AT_ONCE} or {RENAMED}, which rfc does not offer"),
        ("bow+ltrf", f"bow wants {AT_ONCE} or {RENAMED}, which ltrf does not offer"),
        ("bow_wr+ltrf", f"bow wants {AT_ONCE} or {RENAMED}, which ltrf does not offer"),
        ("malekeh+ltrf", "malekeh wants places in the cycle of the offer, which ltrf does not offer"),
        ("ltrf+gto", "ltrf wants a scheduler with places, which gto and units do not offer"),
        ("ltrf_plus+lrr", "ltrf wants a scheduler with places, which lrr and units do not offer"),
        ("ltrf+oldest", "ltrf wants a scheduler with places, which oldest and units do not offer"),
        (
            "malekeh+gto",
            "malekeh wants a scheduler that takes preferred warps in the order of their age or of their places, which",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(name: str, why: str) -> None:
    assert why in refusal(find(name))


def test_a_file_that_answers_later_wants_collectors_that_ask_later() -> None:
    early = replace(PARTS["bow"], name="early", wants_one=())
    why = "rfc wants collectors that look sources up after their beat was taken, which early does not offer"
    assert why in refusal(machine(early, PARTS["rfc"]))


class Evicting(Config):
    """A file with an engine of the name of bow's."""

    @property
    def gives(self) -> Gives:
        """One engine."""
        return Gives(cycles=self.bank_cycles, engines=(Engine("evictions", 1),))


def test_engines_of_one_name_are_refused() -> None:
    file = replace(PARTS["banked"], name="evicting", parameters=Evicting)
    assert machine(PARTS["units"], file).configuration("tiny").gives.engines
    why = "names of engines must be unique, not 'evictions' of collectors and register file"
    assert why in refusal(machine(PARTS["bow"], file), "tiny", window_writes="back")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["bow+two_level", "bow_wr+two_level", "malekeh+two_level", "baseline+rfc"])
def test_combinations_that_fit_have_a_configuration_at_every_preset(name: str, preset: str) -> None:
    scheme, alone = find(name), SCHEMES[name.partition("+")[0]]
    try:
        alone.configuration(preset)
    except ValueError:
        assert refusal(scheme, preset)
        return
    cfg = scheme.configuration(preset)
    assert cfg.scheduler == "two_level"
    names = [probe.name for probe in scheme.probes(cfg)]
    assert len(names) == len(set(names))
    assert {part.name for part in scheme.parts(cfg)} >= set(name.split("+")[1:])


#: Collectors of files that not all fit; other files fit all but those that have sources looked up one by one, and
#: `sticky`, which fits `banked` and `scalar`.
ONLY = {
    **{"rfc": ("units",), "shrf": ("units",), "ltrf": ("units",), "ported": ("read_window",)},
    **{"packed": ("coalescing", "bow"), "shared": ("coalescing",), "scalar": ("units", "sticky")},
}


def test_every_pair_of_known_parts_fits_or_is_refused_in_one_line() -> None:
    known = [*PARTS.values(), PARTS["coalescing"], PARTS["packed"]]
    by_slot = {slot: [part for part in known if part.slot == slot] for slot in ("collectors", "rf")}
    for collectors in by_slot["collectors"]:
        for rf in by_slot["rf"]:
            scheme = machine(collectors, rf)
            beside = {"coalescing", "read_window"} | ({"sticky"} if rf.name not in ("banked", "scalar") else set())
            only = ONLY.get(rf.name, tuple({*PARTS} - beside))
            fits = collectors.name in only
            assert (scheme.configuration("tiny") is not None) if fits else refusal(scheme)


def test_two_owners_of_one_thing_are_refused() -> None:
    assert refusal(machine(toy.RENAMING_UNITS, toy.RENAMED)) == (
        "baseline+renaming_units+renamed: parts must fit: renaming_units and renamed both decide the renaming of"
        " registers"
    )
    near = replace(PARTS["units"], name="near_units", owns=(RESIDENCY,))
    assert "near_units and rfc both decide which warps have their registers near" in refusal(
        machine(near, PARTS["rfc"])
    )


def test_engines_and_look_ups_that_the_file_does_not_offer_are_refused() -> None:
    scheme = machine(toy.MOVING, toy.BARE)
    assert scheme.configuration("tiny")
    why = refusal(scheme, movers=2)
    assert "moving wants bank ports for engines of the collectors, which" in why and "bare do not offer" in why
    slow = replace(PARTS["bow"], name="slow", wants_one=())
    assert "slow wants look-ups of further registers" in refusal(machine(slow, toy.BARE))
    known = replace(PARTS["malekeh"], name="known", wants=())
    assert "known wants to know to which bank a result goes" in refusal(machine(known, toy.BARE))


def test_two_fields_of_one_name_are_refused() -> None:
    why = refusal(machine(toy.OTHER_PAINT, toy.PAINTED))
    assert why == (
        "baseline+other_paint+painted: parts must fit: field 'paint' belongs to OtherPaintConfig and to PaintConfig"
    )


def test_two_probes_of_one_name_are_refused_and_both_parts_named() -> None:
    assert refusal(machine(toy.LOUD)) == ("baseline+loud: probe names must be unique, not 'request' of units and loud")


def test_a_scheduler_with_fields_has_to_be_chosen_as_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "choosy", toy.CHOOSY)
    assert "choosy has settings of its own, so choose it by --scheduler or SCHEME+choosy" in refusal(
        SCHEMES["baseline"], scheduler="choosy"
    )
    assert find("baseline+choosy").configuration("tiny", paint=4)


@pytest.mark.parametrize("packing", [0, 1])
@pytest.mark.parametrize("writes", ["through", "back", "hints"])
def test_operand_windows_give_registers_back_by_name_over_a_renamed_file(writes: str, packing: int) -> None:
    cfg = find("bow_wr+packed").configuration("tiny", window_writes=writes, packing=packing)
    back = writes != "through"
    assert (cfg.asks.evicts, cfg.asks.keeps, cfg.asks.lookups, cfg.asks.engines) == (back, back, 0, ())
    names = {probe.name: probe.width for probe in find("bow_wr+packed").probes(cfg)}
    assert names["look_up"] == names["look_up_wait"] == names["zero"] == cfg.warps
    assert names.get("underway_wait", 0) == back * (cfg.write_ports + cfg.warps + 1)
    entries = cfg.warps * getattr(cfg, "window_entries")  # noqa: B009
    assert names.get("entry_size", 0) == (back and packing) * 3 * entries
    assert names["target"] == cfg.write_ports * (cfg.bank_bits + cfg.row_bits + 4)


def test_dead_registers_under_operand_windows_are_refused() -> None:
    why = "virtualization must be 0, not 1, under operand windows"
    assert refusal(find("bow_wr+packed"), "tiny", virtualization=1) == why
    assert refusal(find("packing_virtual+bow"), "tiny") == why


def test_a_file_that_takes_no_evictions_has_no_windows_that_give_back() -> None:
    file = replace(PARTS["packed"], name="deaf", offers=(RENAMED,))
    assert machine(PARTS["bow"], file).configuration("tiny", window_writes="through")
    why = "bow wants registers that are given back by name, which gto and deaf do not offer"
    assert why in refusal(machine(PARTS["bow"], file), "tiny", window_writes="back")
