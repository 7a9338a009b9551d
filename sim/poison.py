"""Overwrites bank rows of registers that were given up, so that a later read shows (docs/schemes/bow.md, section 4)."""

from __future__ import annotations

from warpfile.sim.harness import input_bits
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import BowConfig

PATTERN = 0xBAD0C0DE

_STATE = """\
  // Poison: place of every register, as its results have shown it; then the row of every register that is given up.
  reg [{place_top}:0] place_of [0:{last_register}];
  reg [{place_top}:0] poison_place;
  reg [{last_lane}:0] poison_mask;
  integer poison_lane;
  always @(posedge clk) if (!inputs[0]) begin
{places}{events}  end
"""
_PLACE = """\
    if (inputs[{valid}]) place_of[{{inputs[{warp}], inputs[{register}]}}] =
        dut.register_file.banks.result_places[{low} +: {width}];
"""
_EVENT = """\
    if (probe[{event}]) begin
      poison_place = place_of[{{{warp}, {register}}}];
      poison_mask = {mask};
      case (poison_place[{bank_top}:0])
{banks_text}      endcase
    end
"""
_BANK = """\
        {bank}: for (poison_lane = 0; poison_lane < {lanes}; poison_lane = poison_lane + 1)
          if (poison_mask[poison_lane]) dut.register_file.banks.bank{bank}.ram.ram.rows[poison_place[{rows}]]
              [poison_lane*32 +: 32] <= 32'h{pattern:x};
"""


def window_poison(cfg: BowConfig, layout: ProbeLayout) -> str:
    """Verilog for the harness of a machine with operand windows: poison at every discard and drop.

    It asks the file's own look-up of results where a register lives, so that it works over any plain file in which
    that stays so while the warp is resident.
    """
    if cfg.window_writes != "hints":
        return ""
    events = []
    for warp in range(cfg.warps):
        for entry in range(cfg.window_entries):
            event = layout.offset["discard"] + warp * cfg.window_entries + entry
            tags = f"dut.collectors.window{warp}.tags"
            held = f"{tags}.registers[{entry * cfg.register_bits} +: {cfg.register_bits}]"
            # A result may take an entry and be given up in the same cycle, by the beat that enters. A shift, because a
            # mask of one entry has no bits to select.
            register = f"({tags}.stored >> {entry} & 1'b1 ? {tags}.result_register : {held})"
            lanes = f"{{{cfg.lanes}{{1'b1}}}}"
            events.append(_event(cfg, event, f"{cfg.warp_bits}'d{warp}", register, lanes))
    for port in range(cfg.write_ports):
        names = ("warp", "register", "mask", "full")
        fields = {name: f"inputs[{input_bits(cfg, f'result{port}', name)}]" for name in names}
        # Of a partial result only its own lanes are given up.
        mask = f"({fields['mask']} | {{{cfg.lanes}{{{fields['full']}}}}})"
        events.append(_event(cfg, layout.offset["drop"] + port, fields["warp"], fields["register"], mask))
    return _STATE.format(
        place_top=cfg.bank_bits + cfg.row_bits - 1,
        last_register=(1 << cfg.warp_bits + cfg.register_bits) - 1,
        last_lane=cfg.lanes - 1,
        places="".join(_place(cfg, port) for port in range(cfg.write_ports)),
        events="".join(events),
    )


def _place(cfg: BowConfig, port: int) -> str:
    width, name = cfg.bank_bits + cfg.row_bits, f"result{port}"
    fields = {field: input_bits(cfg, name, field) for field in ("warp", "register")}
    return _PLACE.format(valid=input_bits(cfg, f"result_valid{port}"), low=port * width, width=width, **fields)


def _event(cfg: BowConfig, event: int, warp: str, register: str, mask: str) -> str:
    rows = f"{cfg.bank_bits + cfg.row_bits - 1}:{cfg.bank_bits}"
    common = {"lanes": cfg.lanes, "pattern": PATTERN, "rows": rows}
    text = "".join(_BANK.format(bank=bank, **common) for bank in range(cfg.banks))
    where = {"event": event, "warp": warp, "register": register, "mask": mask, "bank_top": cfg.bank_bits - 1}
    return _EVENT.format(banks_text=text, **where)
