"""The rules: pure Python over the standard library. No AWS, clock, randomness or logging."""
