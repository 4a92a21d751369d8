"""What the decode pass found, as plain numbers: all that a child process may say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One file's measurements. Seconds are of the shown time line; shares are of it.

    `opened` and `stopped` are empty, or say why there is nothing or not everything to measure.
    """

    opened: str = ""
    stopped: str = ""
    codec: str = ""
    profile: str = ""
    pixel_format: str = ""
    width: int = 0
    height: int = 0
    pixel_aspect: float = 1.0  # by the container
    coded_aspect: float = 1.0  # by the coded pictures
    rotation: int = 0

    packets: int = 0  # that should be shown
    frames: int = 0
    errors: int = 0  # refused by the decoder
    corrupt_frames: int = 0  # repaired by the decoder, visibly or not
    corrupt_packets: int = 0
    impossible_packets: int = 0  # holding bytes that no encoder writes
    shapes: int = 0  # different picture sizes and formats
    backward: int = 0  # frames that do not follow the one before in time

    start_seconds: float = 0.0
    seconds: float = 0.0
    hold_longest_seconds: float = 0.0  # the longest time one frame is shown

    black_seconds: float = 0.0
    black_longest_seconds: float = 0.0
    dim_seconds: float = 0.0  # nearly black with something to be seen
    flashes: int = 0  # black for less than a quarter of a second
    strobes: int = 0  # brightness jumping to and fro
    plain_seconds: float = 0.0  # one colour all over, black not counted
    plain_range: float = 0.0  # how far that colour moves, in levels
    noise_share: float = 0.0
    loop_seconds: float = 0.0  # the period after which everything repeats; 0 if nothing does
    still_seconds: float = 0.0  # nothing moves, to the level
    still_longest_seconds: float = 0.0
    grain_seconds: float = 0.0  # nothing but grain moves
    edge_seconds: float = 0.0  # the longer of the holds at the beginning and at the end
    froze_seconds: float = 0.0  # by freezedetect, whose mean overlooks small motion
    pictures_per_second: float = 0.0  # that differ from the one before
    card_share: float = 0.0  # of a picture that is flat, as in lettering on a ground
    empty_rows_share: float = 0.0  # of the height that shows an empty decoder buffer

    sound_codec: str = ""
    sound_seconds: float = 0.0
    sound_errors: int = 0
    sound_peak: float = 0.0  # 0 to 1
    silent_seconds: float = 0.0
