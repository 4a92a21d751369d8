"""What keeps the local stack from running, said so that a person can act on it."""


class LocalTrouble(Exception):
    """One line: what is wrong, and what to do."""
