"""Tallyreel: everything that runs. One package, the same in tests, Lambda and the worker image."""
