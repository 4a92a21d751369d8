"""What a media library raises for what a file says: a value to us, never a bug."""

import av

# A cut header raises EOFError, a seek before the beginning OSError, absurd numbers ValueError.
MEDIA_ERRORS = (av.FFmpegError, OSError, EOFError, ValueError)
