"""The harness's input word: everything that the environment drives in one cycle, as one integer."""

from __future__ import annotations

from warpfile.spec.beat import (
    Beat,
    decode_fields,
    field_bits,
    kernel_fields,
    launch_fields,
    pack_beat,
    pack_fields,
    result_fields,
)
from warpfile.spec.config import Config
from warpfile.spec.stimulus import Result, Stimulus
from warpfile.spec.trace import TOKENS

ROW_BITS = 32


def stimulus_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Whole input word. ``value`` is the row of the trace's values plus one, zero for unknown data.

    Kernel and operand are there only for machines that take them.
    """
    fields = [("reset", 1), ("launch_valid", 1), ("launch", field_bits(launch_fields(cfg)))]
    fields += [("decode_valid", 1), ("decode", field_bits(decode_fields(cfg))), ("ready", cfg.ports)]
    for port in range(cfg.ports):
        fields += [
            (f"result_valid{port}", 1),
            (f"result{port}", field_bits(result_fields(cfg))),
            (f"value{port}", ROW_BITS),
        ]
    if cfg.gives.kernel:
        fields += [("kernel_valid", 1), ("kernel", field_bits(kernel_fields(cfg)))]
    if cfg.operand_bits:
        fields += [("operand_valid", 1), ("operand", cfg.operand_bits)]
    return tuple(fields)


class StimulusPacker:
    """Packs stimuli of one configuration. A result keeps its packed word while it is held."""

    RESET = 1

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        offsets, at = {}, 0
        for name, width in stimulus_fields(cfg):
            offsets[name] = at
            at += width
        self.width = at
        self._launch = offsets["launch_valid"]
        self._decode = offsets["decode_valid"]
        self._ready = offsets["ready"]
        self._results = [offsets[f"result_valid{port}"] for port in range(cfg.ports)]
        self._kernel = offsets.get("kernel_valid")
        self._operand = offsets.get("operand_valid")
        self._value = field_bits(result_fields(cfg)) + 1
        self._lanes = (1 << cfg.lanes) - 1
        self._warp_at = 1
        self._register_at = self._warp_at + cfg.warp_bits
        self._tokens_at = self._register_at + cfg.register_bits
        self._mask_at = self._tokens_at + TOKENS
        self._flags_at = self._mask_at + cfg.lanes
        flags = {name: width for name, width in result_fields(cfg) if name in cfg.result_flags}
        self._flags = tuple(flags.items())
        self._hints_at = self._flags_at + sum(flags.values())

    def pack(self, stimulus: Stimulus) -> int:
        """Input word of one cycle."""
        word = stimulus.ready << self._ready
        launch = stimulus.launch
        if launch is not None:
            cfg = self._cfg
            record = launch.warp | launch.base << cfg.warp_bits | launch.cta << (cfg.warp_bits + cfg.place_bits)
            word |= (record << 1 | 1) << self._launch
        if stimulus.beat is not None:
            word |= self._beat(stimulus.beat, stimulus.beat_warp) << self._decode
        for port, result in enumerate(stimulus.results):
            if result is not None:
                record = (
                    result.writes
                    | result.warp << self._warp_at
                    | result.register << self._register_at
                    | result.tokens << self._tokens_at
                    | (result.mask & self._lanes) << self._mask_at
                )
                if self._flags:
                    record |= self._flag_bits(result)
                record |= result.hints << self._hints_at
                word |= (record << 1 | 1 | (result.row + 1) << self._value) << self._results[port]
        if self._kernel is not None and stimulus.kernel is not None:
            values = {"registers": stimulus.kernel.registers} | stimulus.kernel.descriptor
            word |= (pack_fields(kernel_fields(self._cfg), values) << 1 | 1) << self._kernel
        if self._operand is not None and stimulus.operand is not None:
            word |= (stimulus.operand << 1 | 1) << self._operand
        return word

    def _flag_bits(self, result: Result) -> int:
        bits, at = 0, self._flags_at
        for name, width in self._flags:
            bits |= int(getattr(result, name)) << at
            at += width
        return bits

    def _beat(self, beat: Beat, warp: int) -> int:
        return pack_beat(self._cfg, beat, warp) << 1 | 1
