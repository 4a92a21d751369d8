"""A fault proxy between the functions and AWS: `python -m local.faults UPSTREAM`.

It is microburst, which words errors as AWS does and breaks connections for real. Functions are
sent through it as their HTTP proxy, so that what they sign still names the emulator's address.
It lets everything pass until rules are put in.
"""

import argparse
import json
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import httpx

from local.guardian import end_with
from local.instance import ROOT
from local.stack import Stack
from local.trouble import LocalTrouble

HOST = "127.0.0.1"
PROXY_SETTINGS = ("HTTP_PROXY", "http_proxy")

Rule = dict[str, Any]

_children: list["subprocess.Popen[str]"] = []  # kept, so that none is thought forgotten


def throttle(probability: float) -> list[Rule]:
    """Refuse calls for their number, in each service's words. SQS has none that is documented."""
    codes = {
        "dynamodb": "ProvisionedThroughputExceededException",
        "s3": "SlowDown",
        "stepfunctions": "ThrottlingException",
    }
    return [
        {"service": service, "probability": probability, "error": {"code": code}}
        for service, code in codes.items()
    ]


def failure(probability: float) -> list[Rule]:
    """Answer with the service's own trouble; nothing was done."""
    error = {"code": "InternalServerError", "status": 500}
    return [{"service": "*", "probability": probability, "error": error}]


def reset(probability: float) -> list[Rule]:
    """Break the connection before the call is passed on."""
    return [{"service": "*", "probability": probability, "reset": True}]


def lost_answer(probability: float) -> list[Rule]:
    """Pass the call on, let it be done, and break the connection instead of answering."""
    return [
        {"service": service, "probability": probability, "response": {"abort_bytes": 0}}
        for service in ("dynamodb", "sqs", "stepfunctions")  # S3 answers have no body to cut
    ]


def timeout(probability: float, milliseconds: int = 7000) -> list[Rule]:
    """Hold the connection for longer than the functions' clients wait; nothing is done."""
    return [{"service": "*", "probability": probability, "timeout_ms": milliseconds}]


def conflict(probability: float) -> list[Rule]:
    """Refuse writes because a transaction is at the same item, as DynamoDB words it."""
    single: Rule = {
        "service": "dynamodb",
        "operation": "UpdateItem",
        "probability": probability,
        "error": {"code": "TransactionConflictException"},
    }
    return [single, *(_conflict(probability, actions) for actions in range(2, 9))]


def _conflict(probability: float, actions: int) -> Rule:
    reasons = [{"Code": "None"} for _ in range(actions)]
    reasons[actions // 2] = {"Code": "TransactionConflict", "Message": "Transaction is ongoing"}
    return {
        "service": "dynamodb",
        "operation": "TransactWriteItems",
        "body": f"length(TransactItems) == `{actions}`",
        "probability": probability,
        "error": {
            "code": "TransactionCanceledException",
            "message": "Transaction cancelled, please refer cancellation reasons",
            "fields": {"CancellationReasons": reasons},
        },
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultProxy:
    """A running proxy and its controls."""

    address: str

    def play(self, *rules: Iterable[Rule]) -> None:
        """Put rules in the place of all before them; the first that strikes counts."""
        given = [rule for some in rules for rule in some]
        self._asked("POST", "rules", given)

    def calm(self) -> None:
        """Let everything pass."""
        self.play()

    def injected(self) -> Counter[str]:
        """Count the faults since the start, by what was done."""
        counted: Counter[str] = Counter()
        for line in self._asked("GET", "metrics").text.splitlines():
            if line.startswith("microburst_faults_total{"):
                labels, _, number = line.rpartition(" ")
                counted[labels.partition('action="')[2].rstrip('"}')] += int(float(number))
        return counted

    def passed(self) -> int:
        """Count the calls since the start, with those that were broken."""
        return int(self._asked("GET", "stats").json()["requests"]["total"])

    def _asked(self, method: str, what: str, content: Any = None) -> httpx.Response:
        url = f"{self.address}/_microburst/{what}"
        with httpx.Client(trust_env=False, timeout=30) as client:
            return client.request(method, url, json=content).raise_for_status()


def started(endpoint: str, *, guardian: int) -> FaultProxy:
    """Start a proxy before an emulator's address; it ends with its guardian."""
    command = [sys.executable, "-m", "local.faults", endpoint, "--guardian", str(guardian)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    _children.append(process)
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise LocalTrouble("The fault proxy did not start.")
    return FaultProxy(address=json.loads(line)["address"])


def stop_all() -> None:
    """Stop the proxies that this process started."""
    while _children:
        with _children.pop() as process:
            process.terminate()


def led_through(live: Stack, proxy: FaultProxy) -> None:
    """Have all of a stack's functions call AWS through the proxy."""
    with closing(live.client("lambda")) as functions:
        for name, function in live.outputs.items():
            if name.endswith("Function"):
                found = functions.get_function_configuration(FunctionName=function)
                variables: Mapping[str, str] = found["Environment"]["Variables"]
                led = dict.fromkeys(PROXY_SETTINGS, proxy.address)
                functions.update_function_configuration(
                    FunctionName=function, Environment={"Variables": {**variables, **led}}
                )


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m local.faults", description=__doc__)
    parser.add_argument("upstream", help="where the calls go on to")
    parser.add_argument("--guardian", type=int, help="the process that it ends with")
    given = parser.parse_args()
    web: Any = import_module("aiohttp.web")
    microburst: Any = import_module("microburst.core.pipeline")
    wiring: Any = import_module("microburst.app")
    host: Any = import_module("microburst.detection.host")
    forward: Any = import_module("microburst.forward")
    # It would take the length off answers; those to HEAD consist of nothing else.
    forward.HOP_BY_HOP -= {"content-length"}
    # It would read every service's model to know names of hosts; ours are numbers.
    host._endpoint_prefix_map = dict  # noqa: SLF001 - it has no setting
    if given.guardian:
        end_with(given.guardian)
    with socket.create_server((HOST, 0)) as listening:
        app = wiring.make_app(microburst.Microburst(given.upstream, resign=False))
        sys.stdout.write(json.dumps({"address": f"http://{HOST}:{listening.getsockname()[1]}"}))
        sys.stdout.write("\n")
        sys.stdout.flush()
        web.run_app(app, sock=listening, print=None, access_log=None, shutdown_timeout=0.1)


if __name__ == "__main__":
    main()
