"""What is declared once of the baseline scheme: its probes (docs/machine.md, section 8) and its SRAM module."""

from __future__ import annotations

from spec.config import Config
from spec.probe import Probe

#: Verilog module of a bank's SRAM, the one that a user replaces by a foundry macro and synthesis leaves out.
BANK_RAM = "register_bank_ram"


def baseline_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the frame and of the baseline's operand stage, least significant field first."""
    slots = cfg.collectors * cfg.source_slots
    fields = [
        Probe("launch", 1, "the offered warp is launched"),
        Probe("resident", cfg.warps, "warp slots that hold a warp"),
        Probe("buffered", cfg.warps, "warps with a beat in their instruction buffer"),
        Probe("clear", cfg.warps, "warps whose head beat has no hazard"),
        Probe("waiting", cfg.warps, "warps waiting at a barrier"),
        Probe("room", cfg.warps, "warps whose head beat finds a collector unit or needs none"),
        Probe("issue", 1, "a beat issues"),
        Probe("issue_warp", cfg.warp_bits, "warp of the issuing beat"),
        Probe("exit", 1, "the issuing beat ends its warp"),
        Probe("occupied", cfg.collectors, "occupied collector units"),
        Probe("allocate", cfg.collectors, "collector unit that takes the issuing beat, one-hot"),
        Probe("request", slots, "source slots that ask their bank, bit unit * source_slots + slot"),
        Probe("grant", slots, "source slots whose bank serves them"),
        Probe("write", cfg.ports, "write-back ports whose result is accepted"),
        Probe("write_wait", cfg.ports, "write-back ports whose result is held back"),
        Probe("offer", cfg.ports, "execution ports to which a collector unit is presented"),
        Probe("dispatch", cfg.ports, "execution ports that take the presented beat"),
    ]
    for port in range(cfg.ports):
        fields.append(Probe(f"dispatch_unit{port}", cfg.unit_bits, "presented collector unit, zero if none"))
        fields.append(Probe(f"dispatch_payload{port}", cfg.payload_bits, "payload of the presented beat, zero if none"))
    return tuple(fields)
