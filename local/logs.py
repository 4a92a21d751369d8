"""Shows what the functions log, as they log it."""
from local.stack import Stack


def follow(found: Stack) -> None:
    print(found)
