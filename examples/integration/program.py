"""Writes the files that sm.v fetches, from a trace: ``python program.py MANIFEST TRACE FOLDER``.

A beat keeps its decode record, but gets a payload that says what to compute. Warp k of the trace goes to slot k.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path

from warpfile.sim.kit import Design
from warpfile.spec.beat import launch_fields, pack_beat, pack_fields

OPERATIONS = {"IADD3": 0, "ISETP": 0, "LDS": 0, "STS": 0, "IMAD": 1, "LOP3": 2, "S2R": 3}
PC_BITS = 8  # as in sm.v


def payload(beat, text, first_thread):
    """From bit 0: operation, which operands are used, a signed number of 12 bits, tokens."""
    opcode = re.sub(r"@!?U?P\d\s+", "", text).split()[0].split(".")[0]
    if opcode not in OPERATIONS:
        return 0  # a beat without a unit ignores it
    number = int((re.findall(r"-?0x[0-9a-f]+", text) or ["0"])[0], 16)
    if opcode == "S2R":
        number = first_thread
    used = (1 << len(beat.sources)) - 1
    return OPERATIONS[opcode] | used << 2 | (number & 0xFFF) << 4 | beat.token_writes << 16


def write(design, workload, folder):
    cfg, trace = design.config, workload.trace
    places = cfg.places_per_warp(trace.registers, {})
    text = {static.offset: static.text for static in trace.program}
    beats, warps = [], []
    for cta, members in enumerate(workload.ctas):
        for warp in members:
            first, slot = len(beats), len(warps)
            for beat in workload.warps[warp]:
                what = payload(beat, text[beat.offset], 32 * (warp - members[0]))
                beats.append(pack_beat(cfg, replace(beat, payload=what), slot))
            launch = pack_fields(launch_fields(cfg), {"warp": slot, "base": slot * places, "cta": cta})
            bits = sum(width for _, width in launch_fields(cfg))
            warps.append((len(beats) << PC_BITS | first) << bits | launch)
    assert len(beats) < 1 << PC_BITS and len(warps) <= cfg.warps, "the trace must fit the memories of sm.v"
    for name, words in (("beats.hex", beats), ("warps.hex", warps)):
        (folder / name).write_text("".join(f"{word:x}\n" for word in words))


if __name__ == "__main__":
    chosen = Design.load(Path(sys.argv[1]))
    write(chosen, chosen.workload(Path(sys.argv[2])), Path(sys.argv[3]))
