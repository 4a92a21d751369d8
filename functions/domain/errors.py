"""Broken infrastructure, as the pipeline sees it. Expected endings are values, not these.

TallyreelError
├── Unavailable      nothing was done; trying again later will do
├── OutcomeUnknown   the write may have been made; ask before trying again
├── BadCursor        a list's cursor is not one that we gave out
├── InspectionFailed the inspection itself did not finish
├── SourceUnreadable a customer's file could not be read at some place; the order is refused
└── FetchFailed      an output could not be brought over; the download is tried again
"""


class TallyreelError(Exception):
    """Base of all."""


class Unavailable(TallyreelError):
    """A service refused the call before doing anything: throttled, or down."""


class OutcomeUnknown(TallyreelError):
    """A call was sent and its answer never came."""


class BadCursor(TallyreelError):
    """A list was asked for from a place that never existed."""


class InspectionFailed(TallyreelError):
    """The inspection itself died or ran out of time; the file is not judged."""


class FetchFailed(TallyreelError):
    """A provider's file could not be brought over this time."""


class SourceUnreadable(TallyreelError):
    """A part of a customer's file was not to be had."""
