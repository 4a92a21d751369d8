"""Stand-ins for render providers: the same wire, over real HTTP, scripted and counting.

One file per vendor, named as the provider is, declaring `FAKE`. They listen on this machine
only, sign with real keys, and never call anything outside of it.
"""

from importlib import import_module

from local.fakes.vendor import Vendor


def vendor(name: str) -> type[Vendor]:
    """Find a vendor's stand-in by its provider's name."""
    found: type[Vendor] = import_module(f"local.fakes.{name}").FAKE
    return found
