"""`python -m bench [name …]`: run the measurements, all of them or those named."""

import argparse
import runpy
import sys

MEASUREMENTS = {
    "task": "requests, capacity and seconds of one delivered clip",
    "render": "filming a photo, against ffmpeg doing the same",
    "inspect": "inspecting a film, against decoding it",
    "corpus": "verdicts on the corpus, where it is present",
    "damage": "damage and header trials",
    "sweep": "what one sweep costs, by the number of tasks",
    "replay": "filming a recorded session, against real time",
    "analysis": "viewing a video, against ffmpeg making the same small copy",
}


def main() -> None:
    """Run one measurement after the other; each prints its own figures."""
    shown = "\n".join(f"  {name:<9}{about}" for name, about in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"{__doc__}\n\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", choices=[*MEASUREMENTS, []])
    for name in parser.parse_args().names or MEASUREMENTS:
        print(f"== {name}: {MEASUREMENTS[name]}", flush=True)
        sys.argv = [f"bench.{name}"]
        runpy.run_module(f"bench.{name}", run_name="__main__")


if __name__ == "__main__":
    main()
