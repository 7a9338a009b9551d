"""Overwrites bank rows of registers that were given up, so that a later read shows (docs/schemes/bow.md, section 4)."""

from __future__ import annotations

from warpfile.sim.harness import input_bits
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import BowConfig

PATTERN = 0xBAD0C0DE

_STATE = """\
  // Poison: base of the warp in every slot, as it was launched; then the row of every register that is given up.
  reg [{base_top}:0] base_of [0:{last_warp}];
  reg [31:0] poison_place;
  reg [{last_lane}:0] poison_mask;
  integer poison_lane;
  always @(posedge clk) if (!inputs[0]) begin
    if (inputs[{launch_valid}]) base_of[inputs[{launch_warp}]] <= inputs[{launch_base}];
{events}  end
"""
_EVENT = """\
    if (probe[{event}]) begin
      poison_place = base_of[{warp}] + {register};
      poison_mask = {mask};
      case ((poison_place + {skew}) % {banks})
{banks_text}      endcase
    end
"""
_BANK = """\
        {bank}: for (poison_lane = 0; poison_lane < {lanes}; poison_lane = poison_lane + 1)
          if ({mask}[poison_lane]) dut.register_file.banks.bank{bank}.ram.ram.rows[poison_place / {banks}]
              [poison_lane*32 +: 32] <= 32'h{pattern:x};
"""


def window_poison(cfg: BowConfig, layout: ProbeLayout) -> str:
    """Verilog for the harness of a machine with operand windows: poison at every discard and drop."""
    if cfg.window_writes != "hints":
        return ""
    events = []
    for warp in range(cfg.warps):
        for entry in range(cfg.window_entries):
            event = layout.offset["discard"] + warp * cfg.window_entries + entry
            tags = f"dut.collectors.window{warp}.tags"
            held = f"{tags}.registers[{entry * cfg.register_bits} +: {cfg.register_bits}]"
            # A result may take an entry and be given up in the same cycle, by the beat that enters.
            register = f"({tags}.stored[{entry}] ? {tags}.result_register : {held})"
            events.append(_event(cfg, event, str(warp), register, f"{{{cfg.lanes}{{1'b1}}}}"))
    for port in range(cfg.ports):
        names = ("warp", "register", "mask", "full")
        fields = {name: f"inputs[{input_bits(cfg, f'result{port}', name)}]" for name in names}
        # Of a partial result only its own lanes are given up.
        mask = f"({fields['mask']} | {{{cfg.lanes}{{{fields['full']}}}}})"
        events.append(_event(cfg, layout.offset["drop"] + port, fields["warp"], fields["register"], mask))
    return _STATE.format(
        base_top=cfg.place_bits - 1,
        last_warp=cfg.warps - 1,
        last_lane=cfg.lanes - 1,
        launch_valid=input_bits(cfg, "launch_valid"),
        launch_warp=input_bits(cfg, "launch", "warp"),
        launch_base=input_bits(cfg, "launch", "base"),
        events="".join(events),
    )


def _event(cfg: BowConfig, event: int, warp: str, register: str, mask: str) -> str:
    skew = {"none": "0", "warp": warp, "row": f"poison_place / {cfg.banks}"}[cfg.bank_skew]
    common = {"banks": cfg.banks, "lanes": cfg.lanes, "pattern": PATTERN, "mask": "poison_mask"}
    text = "".join(_BANK.format(bank=bank, **common) for bank in range(cfg.banks))
    where = {"event": event, "warp": warp, "register": register, "mask": mask, "skew": skew}
    return _EVENT.format(banks=cfg.banks, banks_text=text, **where)
