"""The harness's input word: everything that the environment drives in one cycle, as one integer."""

from __future__ import annotations

from spec.beat import Beat, decode_fields, pack_beat
from spec.config import Config
from spec.environment import Stimulus
from spec.trace import TOKENS

ROW_BITS = 32


def launch_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Record of a warp launch, least significant first."""
    return (("warp", cfg.warp_bits), ("base", cfg.place_bits), ("cta", cfg.cta_bits))


def result_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Record of a write-back request, least significant first."""
    fields = (("writes", 1), ("warp", cfg.warp_bits), ("register", cfg.register_bits), ("tokens", TOKENS))
    return (*fields, ("mask", cfg.lanes))


def stimulus_fields(cfg: Config) -> tuple[tuple[str, int], ...]:
    """Whole input word. ``value`` is the row of the trace's values plus one, zero for unknown data."""
    fields = [("reset", 1), ("launch_valid", 1), ("launch", _width(launch_fields(cfg)))]
    fields += [("decode_valid", 1), ("decode", _width(decode_fields(cfg))), ("ready", cfg.ports)]
    for port in range(cfg.ports):
        fields += [
            (f"result_valid{port}", 1),
            (f"result{port}", _width(result_fields(cfg))),
            (f"value{port}", ROW_BITS),
        ]
    return tuple(fields)


def _width(fields: tuple[tuple[str, int], ...]) -> int:
    return sum(width for _, width in fields)


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
        self._value = _width(result_fields(cfg)) + 1
        self._lanes = (1 << cfg.lanes) - 1
        self._warp_at = 1
        self._register_at = self._warp_at + cfg.warp_bits
        self._tokens_at = self._register_at + cfg.register_bits
        self._mask_at = self._tokens_at + TOKENS
        self._beats: dict[tuple[int, int], int] = {}

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
                word |= (record << 1 | 1 | (result.row + 1) << self._value) << self._results[port]
        return word

    def _beat(self, beat: Beat, warp: int) -> int:
        return pack_beat(self._cfg, beat, warp) << 1 | 1
