"""Find declarations by looking through a folder: a new one is one new file."""

import pkgutil
from importlib import import_module
from typing import Protocol, TypeVar


class Named(Protocol):
    """Anything that has a name of its own."""

    @property
    def name(self) -> str:
        """Name it as orders and queues do."""
        ...


N = TypeVar("N", bound=Named)


def declared(package: str, constant: str, wanted: type[N] | tuple[type[N], ...]) -> dict[str, N]:
    """Import each module of a package and collect the constant that it declares."""
    found: dict[str, N] = {}
    paths = import_module(package).__path__
    for module in sorted(pkgutil.iter_modules(paths), key=lambda info: info.name):
        thing = getattr(import_module(f"{package}.{module.name}"), constant, None)
        if not isinstance(thing, wanted):
            raise TypeError(f"{package}.{module.name} declares no {constant}")
        if thing.name in found:
            raise ValueError(f"{package} declares {thing.name!r} twice")
        found[thing.name] = thing
    return found
