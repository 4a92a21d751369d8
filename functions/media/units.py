"""Bytes that no H.264 or HEVC encoder writes.

Encoders break up every run of zeros in coded data, so a hole of zeros in a file, the commonest
damage of all, is visible without decoding; in HEVC it is hardly visible otherwise. Start codes
inside a unit do occur: some phones wrap units twice.
"""

ZEROS = bytes(4)  # two may stand side by side, and a start code brings a third
ZERO_TAIL_MAX = 64  # sloppy packagers leave a few behind a unit; a hole leaves many
LENGTH_AT = {"h264": 4, "hevc": 21}  # where the configuration record says how lengths are stored


def length_bytes(codec: str, record: bytes) -> int:
    """How many bytes a unit's length takes; 0 if the stream has no such units."""
    at = LENGTH_AT.get(codec)
    if at is None or len(record) <= at or record[0] != 1:
        return 0
    return (record[at] & 3) + 1


def impossible(packet: bytes, length_size: int) -> bool:
    """Whether a packet's units do not fill it, or hold zeros that an encoder breaks up."""
    holes = ZEROS in packet  # which the lengths of short units hold too
    at = 0
    while at + length_size <= len(packet):
        size = int.from_bytes(packet[at : at + length_size], "big")
        at += length_size
        if holes and _holed(packet[at : at + size]):
            return True
        at += size
    return at != len(packet)


def _holed(unit: bytes) -> bool:
    core = unit.rstrip(b"\x00")
    return len(unit) - len(core) > ZERO_TAIL_MAX or ZEROS in core
