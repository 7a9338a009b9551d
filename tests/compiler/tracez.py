"""Accel-Sim files of release 2.0.0 as tests write them, from the description in ``docs/trace.md``."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import zstandard

from tests.compiler.traceg import Warps, text

VERSION_6 = {"accelsim tracer version": "6", "binary version": "90"}
LANE_NUMBERS = " ".join(f"{lane:08x}" for lane in range(32))
SQUARES = " ".join(f"{lane * lane:08x}" for lane in range(32))

#: R2 is the lane's number, R4 its square. The values are those before each instruction.
VALUED = (
    "0000 ffffffff 1 R2 S2R 0 0 0 0 Val 1 00000000 ",
    f"0010 ffffffff 1 R4 IMAD 2 R2 R2 0 0 0 Val 1 00000000 32 {LANE_NUMBERS} 32 {LANE_NUMBERS} ",
    "0020 ffffffff 1 UR4 R2UR 1 R2 0 7 -1 NoVal ",
    "0030 0000000f 0 UTMALDG.2D 0 2 0x00000400 1 0x0003 64 0 4 0x7f0000001000 4 2 2 0 0 NoVal ",
    f"0040 ffffffff 0 STG.E.SYS 2 R6 R4 4 1 0x7f1000000000 4 0 0 Val 1 00000010 32 {SQUARES} ",
    "0050 ffffffff 0 EXIT 0 0 0 0 NoVal ",
)
#: The same as the tracer of release 2.0.0 writes it: it has values of barriers and the like only.
STOCK = tuple(f"{line.partition(' Val ')[0]} NoVal" if " Val " in line else line for line in VALUED)
RELEASED = (*STOCK[:-1], "0048 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 1 R4 0 0 0 Val 1 00000010 ", STOCK[-1])


def version_6(warps: Warps, **header: str) -> str:
    """A grouped text with lines of clusters."""
    cluster = "\ncluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0"
    return text(warps, {**VERSION_6, **header}).replace("thread block = 0,0,0", f"thread block = 0,0,0{cluster}")


def raw(warps: Mapping[int, Sequence[str]], prefix: str = " 0 0 0 0 0 0 0", **header: str) -> str:
    """A text as the tracer writes it, the warps taking turns."""
    top = text({0: ()}, {**VERSION_6, **header}).partition("\n#BEGIN_TB")[0]
    longest = max(map(len, warps.values()))
    turns = [(warp, stream[at]) for at in range(longest) for warp, stream in warps.items() if at < len(stream)]
    return top + "\n" + "".join(f"0 0 0 {warp}{prefix} {line}\n" for warp, line in turns)


def tracez(warps: Sequence[Sequence[str]], piece: int = 2, dictionary: bytes = b"", **header: str) -> bytes:
    """One CTA, packed."""
    top = text({0: ()}, {**VERSION_6, **header}).partition("\n#BEGIN_TB")[0]
    known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    packer = zstandard.ZstdCompressor(dict_data=known)
    data = top.encode() + b"\0" + struct.pack("<2I", len(dictionary), piece) + dictionary
    index = struct.pack("<I11I", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, len(warps))
    for stream in warps:
        pieces = [stream[at : at + piece] for at in range(0, len(stream), piece)]
        index += struct.pack("<2IQ", len(stream), len(pieces), len(data))
        index += b"".join(struct.pack("<I", len(lines)) for lines in pieces)
        data += struct.pack("<2I", len(stream), len(pieces))
        for lines in pieces:
            packed = packer.compress("\n".join(lines).encode())
            data += struct.pack("<I", len(packed)) + packed
    return data + index + struct.pack("<Q", len(data))
