"""The ports in memory, one each. Failure is injected from outside, never by a switch in here."""
