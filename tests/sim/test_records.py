"""What the golden side writes of a cycle, against the beats that it was given."""

from __future__ import annotations

import pytest

from warpfile.schemes import SCHEMES
from warpfile.sim.stimulus import DuePacker
from warpfile.spec.beat import dispatch_fields, field_bits, pack_fields, unpack_fields
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare


@pytest.mark.parametrize("name", SCHEMES)
def test_what_has_to_leave_is_what_was_decoded(name: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration("tiny")
    layout = ProbeLayout(scheme.probes(cfg))
    workload = prepare(cfg, scheme.annotated(cfg, stress_trace(3, warps_per_cta=[2, 3], ctas=3, length=40)))
    model, environment, due = scheme.golden(cfg, layout), Environment(cfg, workload, layout), DuePacker(cfg, layout)
    warps, seen = {}, 0
    while not environment.done:
        stimulus = environment.stimulus()
        if stimulus.beat is not None:
            warps[stimulus.beat.payload] = stimulus.beat_warp
        word = model.step(stimulus)
        for _, value in due.parts(word, environment):
            record = value & (1 << field_bits(dispatch_fields(cfg))) - 1
            beat = workload.beats[unpack_fields(dispatch_fields(cfg), record)["payload"]]
            names = {name: getattr(beat, name) for name in ("dest", "dest_count", "payload", "full")}
            names |= {"warp": warps.pop(beat.payload), "mask": beat.mask & (1 << cfg.lanes) - 1}
            names["hints"] = beat.hints & (1 << cfg.result_hint_bits) - 1
            assert record == pack_fields(dispatch_fields(cfg), names)
            seen += 1
        environment.observe(word)
    assert seen
