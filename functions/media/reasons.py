"""What each code says to the customer: one sentence about their video.

Braces are filled with the finding's value and evidence.
"""

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "ok": "The video is complete, plays and has the ordered length.",
    # The transfer.
    "not_delivered": "The provider did not hand out the file.",
    "cut_transfer": "The file arrived incomplete.",
    "too_many_bytes": "The file is larger than any ordered video.",
    "changed_bytes": "The file changed on its way.",
    # The container.
    "not_mp4": "The delivered file is {what}, not an MP4 video.",
    "image": "The delivered file is a still picture, not a video.",
    "no_brand": "The file does not say that it is an MP4, so browsers refuse it.",
    "not_mp4_brand": "The file is a relative of MP4, such as QuickTime, that some players refuse.",
    "two_files": "Two recordings were joined byte by byte; players show only one of them.",
    "truncated": "The end of the file is missing.",
    "no_media": "The file has a header but no pictures.",
    "trailing": "Foreign bytes follow the end of the video.",
    "damaged": "The video is damaged: some pictures cannot be shown as they were made.",
    "no_index": "The file has no index of its pictures, so no player can open it.",
    "bad_index": "The file's index contradicts itself or points to the wrong places.",
    "encrypted": "The video is encrypted and cannot be played without a key.",
    "no_video": "The file contains no video.",
    "wrong_length": "The file declares a wrong length, so players show a wrong time line.",
    "fragmented": "The video is cut into fragments; some players show no length.",
    "slow_start": "Playing starts only after the whole file is loaded.",
    "hev1": "Apple devices refuse this label.",
    # What it is made of.
    "unreadable": "The video cannot be opened.",
    "codec": "The video is coded in a way that not all browsers and phones can play.",
    "pixel_format": "The colours are stored in a way that browsers and phones cannot play.",
    "too_small": "The picture is only {value} pixels large.",
    "too_large": "The picture is larger than any device can play.",
    "wrong_size": "The picture is {value} instead of {limit} pixels large.",
    "size_differs": "The file declares another picture size than it shows.",
    "size_changes": "The picture changes its size in the middle of the video.",
    "pixel_aspect": "The picture looks squeezed in some players.",
    "rotated": "The picture lies on its side in players that do not turn it.",
    # Time.
    "too_short": "The video lasts {seconds:.1f} seconds instead of {ordered:g}.",
    "too_long": "The video lasts {seconds:.1f} seconds instead of {ordered:g}.",
    "late_start": "The picture starts only after {gap:.1f} seconds.",
    "bad_times": "Pictures of the video are out of order.",
    "no_pictures": "The video contains no picture that can be shown.",
    "stutter": "The video moves in jumps, at {value:.1f} pictures a second.",
    # What there is to see.
    "flicker": "The picture flickers.",
    "black": "The picture is black for {black:.1f} of {of:.1f} seconds.",
    "dim": "The picture is so dark that little can be seen.",
    "no_picture": "The video shows one colour instead of a picture for {plain:.1f} of "
    "{of:.1f} seconds.",
    "noise": "The video looks like noise.",
    "loop": "The video is the same {period:.1f} seconds again and again.",
    "half_picture": "The lower part of the picture is missing.",
    "frozen": "The picture stands still for {still:.1f} of {of:.1f} seconds.",
    "grain": "Nothing but grain moves for {grain:.1f} of {of:.1f} seconds.",
    "still": "The picture does not move at all.",
    # What there is to hear.
    "no_sound": "Sound was ordered and cannot be heard.",
    "silent": "Sound was ordered and the video is silent.",
    "quiet": "The video is nearly silent.",
    "sound_short": "The sound ends before the picture.",
}
