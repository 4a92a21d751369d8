"""Stand-ins for paid providers: the same wire, over real HTTP, scripted and counting.

One file per vendor, named as the provider is, declaring `FAKE`. They listen on this machine
only, sign with real keys, and never call anything outside of it.
"""

from importlib import import_module

from local.fakes.model import ModelVendor
from local.fakes.vendor import Played, Vendor


def stand_in(name: str) -> type[Played]:
    """Find a stand-in by its provider's name."""
    found: type[Played] = import_module(f"local.fakes.{name}").FAKE
    return found


def vendor(name: str) -> type[Vendor]:
    """Find the stand-in of a provider of renders."""
    found = stand_in(name)
    if not issubclass(found, Vendor):
        raise TypeError(f"{name} renders nothing")
    return found


def model(name: str) -> type[ModelVendor]:
    """Find the stand-in of a model."""
    found = stand_in(name)
    if not issubclass(found, ModelVendor):
        raise TypeError(f"{name} is no model")
    return found
