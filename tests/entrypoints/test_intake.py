"""The HTTP API: every status code of the design, and that nothing is half-held in any of them."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.domain.credits import Balance
from functions.domain.errors import OutcomeUnknown
from functions.domain.results import Creation
from functions.domain.states import Event
from functions.domain.tasks import Happening
from functions.domain.tickets import NewTask, TaskRef
from functions.domain.windows import Sample, Sketch, added
from functions.pipeline.advance import advance
from functions.pipeline.audit import audit
from tests.doubles.store import MemoryStore
from tests.doubles.world import START, World
from tests.entrypoints.conftest import ALICE, OPERATOR, Answer, Call
from tests.factories import OUTPUT, ulid

KEY = {"Idempotency-Key": "key-0000000000001"}
ORDER = {"kind": "image_to_video", "input": {"source": ulid(1), "seconds": 4}}


def order(call: Call, **more: Any) -> Answer:
    return call("POST", "/v1/tasks", **({"body": ORDER, "headers": lower(KEY)} | more))


def lower(headers: dict[str, str]) -> dict[str, str]:
    """HTTP APIs hand header names over in lower case."""
    return {name.lower(): value for name, value in headers.items()}


def problem(answer: Answer) -> tuple[int, str, bool]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.body["status"] == answer.status
    assert answer.body["instance"] == "urn:request:request-1"
    assert answer.body["type"] == f"urn:tallyreel:problem:{answer.body['code']}"
    return answer.status, answer.body["code"], answer.body["retryable"]


class TestOrder:
    def test_is_accepted(self, call: Call, world: World) -> None:
        answer = order(call)

        assert answer.status == 202
        assert answer.headers["Location"] == f"/v1/tasks/{answer.body['id']}"
        assert answer.headers["Retry-After"] == "2"
        assert "Idempotency-Replayed" not in answer.headers
        assert answer.body["state"] == "queued"
        assert answer.body["credits"] == {"amount": 8, "state": "held"}
        assert world.store.balance("alice") == Balance(available=12, held=8, open=1)

    def test_is_replayed_with_its_current_state(self, call: Call, world: World) -> None:
        first = order(call)
        task = world.store.get(TaskRef(account="alice", id=first.body["id"]))
        assert task
        advance(world, task, Happening(event=Event.CLAIMED, lease="l"))

        again = order(call, headers={"idempotency-key": '"key-0000000000001"'})

        assert again.status == 202
        assert again.headers["Idempotency-Replayed"] == "true"
        assert (again.body["id"], again.body["state"]) == (first.body["id"], "rendering")

    @pytest.mark.parametrize(
        ("more", "expected"),
        [
            ({"headers": {}}, (400, "idempotency-key-missing", False)),
            ({"headers": {"idempotency-key": "short"}}, (400, "idempotency-key-malformed", False)),
            ({"body": "{"}, (400, "invalid-input", False)),
            ({"body": "[]"}, (400, "invalid-input", False)),
            ({"body": {"kind": "image_to_video"}}, (400, "invalid-input", False)),
            ({"body": ORDER | {"colour": "red"}}, (400, "invalid-input", False)),
            ({"body": ORDER | {"kind": "song"}}, (400, "invalid-input", False)),
            ({"body": "x" * 70_000}, (413, "body-too-large", False)),
            ({"headers": lower(KEY) | {"content-type": "text/plain"}}, (415, None, False)),
            ({"claims": ALICE | {"token_use": "id"}}, (403, "forbidden", False)),
            ({"claims": ALICE | {"client_id": "stranger"}}, (403, "forbidden", False)),
        ],
    )
    def test_is_refused(
        self, call: Call, world: World, more: dict[str, Any], expected: tuple[int, str, bool]
    ) -> None:
        status, code, retryable = problem(order(call, **more))

        assert (status, retryable) == (expected[0], expected[2])
        assert expected[1] in (code, None)
        assert world.store.balance("alice") == Balance(available=20)

    def test_points_at_an_unknown_field(self, call: Call) -> None:
        wrong = ORDER | {"input": {"source": ulid(1), "secnods": 4}}

        answer = order(call, body=wrong)

        assert [fault["pointer"] for fault in answer.body["errors"]] == ["/input/secnods"]
        outside = order(call, body=ORDER | {"colour": 1})
        assert [fault["pointer"] for fault in outside.body["errors"]] == ["/colour"]

    def test_under_a_used_key(self, call: Call) -> None:
        order(call)
        other = ORDER | {"input": {"source": ulid(1), "seconds": 5}}

        assert problem(order(call, body=other)) == (422, "idempotency-key-reused", False)

    def test_while_the_source_is_busy_links_to_the_running_task(self, call: Call) -> None:
        running = order(call)

        answer = order(call, headers={"idempotency-key": "key-0000000000002"})

        assert problem(answer) == (409, "resource-busy", False)
        assert answer.body["task"] == running.headers["Location"]

    def test_without_credit_says_what_there_is(self, call: Call) -> None:
        dear = ORDER | {"input": {"source": ulid(1), "seconds": 30}}

        answer = order(call, body=dear)

        assert problem(answer) == (402, "insufficient-credit", False)
        assert (answer.body["available"], answer.body["price"]) == (20, 60)

    def test_in_a_full_account_says_when_to_come_back(self, call: Call, world: World) -> None:
        world.rules = replace(world.rules, open_max=0)

        answer = order(call)

        assert problem(answer) == (429, "account-full", True)
        assert int(answer.headers["Retry-After"]) > 0

    def test_with_a_source_that_is_no_photo_gives_the_customers_reason(
        self, call: Call, world: World
    ) -> None:
        world.media.files[f"in/alice/{ulid(1)}"] = (b"GIF89a", "image/jpeg")

        status, code, retryable = problem(order(call))

        assert (status, retryable) == (400, False)
        assert code.startswith("photo-")

    def test_whose_fate_is_unknown_is_to_be_repeated(self, call: Call, world: World) -> None:
        class Silent(MemoryStore):
            def create(self, new: NewTask) -> Creation:
                raise OutcomeUnknown(new.key_hash)

        world.store = Silent()

        answer = order(call)

        assert problem(answer) == (503, "unavailable", True)
        assert answer.headers["Retry-After"] == "1"

    def test_that_meets_a_bug_says_that_nothing_is_lost(self, call: Call, world: World) -> None:
        class Broken(MemoryStore):
            def create(self, new: NewTask) -> Creation:
                raise ZeroDivisionError(f"secret {new.key_hash}")

        world.store = Broken()

        answer = order(call)

        assert problem(answer) == (500, "internal", True)
        assert "secret" not in json.dumps(answer.body)


class TestTask:
    def test_shows_itself_to_its_owner_only(self, call: Call) -> None:
        path = order(call).headers["Location"]

        assert call("GET", path).status == 200
        stranger = call("GET", path, claims=ALICE | {"sub": "bob"})
        assert problem(stranger) == (404, "not-found", False)
        assert problem(call("GET", f"/v1/tasks/{ulid(99)}")) == (404, "not-found", False)
        assert problem(call("GET", "/v1/tasks/nonsense"))[0] == 400

    def test_says_when_to_ask_again_ever_later(self, call: Call, world: World) -> None:
        path = order(call).headers["Location"]
        waits = []
        for _ in range(5):
            waits.append(int(call("GET", path).headers["Retry-After"]))
            world.clock.forward(seconds=60)

        assert waits == sorted(waits)
        assert waits[0] < waits[-1]

    def test_is_not_sent_twice(self, call: Call) -> None:
        path = order(call).headers["Location"]
        first = call("GET", path)

        again = call("GET", path, headers={"if-none-match": first.headers["ETag"]})

        assert (again.status, again.body) == (304, "")
        assert again.headers["ETag"] == first.headers["ETag"]

    def deliver(self, call: Call, world: World) -> str:
        path: str = order(call).headers["Location"]
        ref = TaskRef(account="alice", id=path.rpartition("/")[2])
        until = world.clock.now() + timedelta(hours=24)
        output = replace(OUTPUT, expires_at=until)
        for happening in (
            Happening(event=Event.CLAIMED, lease="l"),
            Happening(event=Event.RENDERED, output_key=OUTPUT.key),
            Happening(event=Event.VERIFIED, output=output),
        ):
            task = world.store.get(ref)
            assert task
            advance(world, task, happening)
        return path

    def test_that_is_delivered_has_a_link(self, call: Call, world: World) -> None:
        answer = call("GET", self.deliver(call, world))

        assert answer.body["done"] is True
        assert answer.body["result"]["url"].startswith(f"memory:{OUTPUT.key}")
        assert answer.body["result"]["sha256"] == OUTPUT.sha256
        assert answer.body["error"] is None
        assert answer.body["credits"] == {"amount": 8, "state": "settled"}
        assert "Retry-After" not in answer.headers

    def test_gets_a_fresh_link_before_the_old_one_dies(self, call: Call, world: World) -> None:
        path = self.deliver(call, world)
        etag = call("GET", path).headers["ETag"]

        world.clock.forward(minutes=10)

        assert call("GET", path, headers={"if-none-match": etag}).status == 200

    def test_whose_files_are_gone_says_so(self, call: Call, world: World) -> None:
        path = self.deliver(call, world)
        world.clock.forward(hours=25)

        answer = call("GET", path)

        assert answer.body["result"]["url"] is None
        assert "expired" in answer.body["message"]
        assert answer.body["order_again"]["kind"] == "image_to_video"
        assert answer.body["order_again"]["input"]["seconds"] == 4
        assert answer.body["done"] is True

    def test_whose_time_is_up_is_gone_even_while_the_table_still_has_it(
        self, call: Call, world: World
    ) -> None:
        path = self.deliver(call, world)
        world.clock.forward(days=91)

        assert problem(call("GET", path)) == (410, "task-purged", False)
        assert call("GET", "/v1/tasks").body["tasks"] == []

    def test_that_was_purged_is_gone(self, call: Call, world: World) -> None:
        path = self.deliver(call, world)
        assert isinstance(world.store, MemoryStore)
        world.store.tasks_by_ref.clear()

        assert problem(call("GET", path)) == (410, "task-purged", False)

    def test_can_be_canceled_once_and_again(self, call: Call, world: World) -> None:
        path = order(call).headers["Location"]

        first, second = call("POST", f"{path}/cancel"), call("POST", f"{path}/cancel")

        assert (first.status, second.status) == (200, 200)
        assert first.body["state"] == second.body["state"] == "canceled"
        assert first.body["error"]["code"] == "canceled"
        assert world.store.balance("alice") == Balance(available=20)
        assert problem(call("POST", f"/v1/tasks/{ulid(9)}/cancel"))[0] == 404

    def test_is_listed(self, call: Call) -> None:
        made = order(call)

        answer = call("GET", "/v1/tasks", query={"limit": "5"})

        assert [task["id"] for task in answer.body["tasks"]] == [made.body["id"]]
        assert problem(call("GET", "/v1/tasks", query={"limit": "0"}))[0] == 400


class TestCredits:
    def test_are_shown_with_their_ledger(self, call: Call) -> None:
        order(call)

        balance, ledger = call("GET", "/v1/credits"), call("GET", "/v1/credits/ledger")

        assert balance.body == {"available": 12, "held": 8, "spent": 0}
        assert [entry["kind"] for entry in ledger.body["entries"]] == ["hold", "grant"]


class TestOperators:
    def grant(self, call: Call, **more: Any) -> Answer:
        sent = {"body": {"amount": 5}, "headers": lower(KEY), "claims": OPERATOR} | more
        return call("POST", "/v1/admin/accounts/bob/credits", **sent)

    def test_grant_once_per_key(self, call: Call, world: World) -> None:
        first, second = self.grant(call), self.grant(call)

        assert (first.status, second.status) == (201, 200)
        assert first.body["id"] == second.body["id"]
        assert world.store.balance("bob") == Balance(available=5)
        assert problem(self.grant(call, body={"amount": 6}))[0] == 422

    @pytest.mark.parametrize("amount", [0, -1, 1.5, "5", True, None])
    def test_grant_whole_positive_credits(self, call: Call, amount: Any) -> None:
        assert problem(self.grant(call, body={"amount": amount}))[0] == 400

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("POST", "/v1/admin/accounts/bob/credits"),
            ("GET", "/v1/admin/tasks"),
            ("POST", f"/v1/admin/tasks/bob/{ulid(1)}/redrive"),
            ("GET", "/v1/admin/health"),
        ],
    )
    def test_only(self, call: Call, method: str, path: str) -> None:
        answer = call(method, path, body={"amount": 5}, headers=lower(KEY), claims=ALICE)

        assert problem(answer) == (403, "forbidden", False)

    def test_redrive_the_dead(self, call: Call, world: World) -> None:
        made = order(call).body["id"]
        task = world.store.get(TaskRef(account="alice", id=made))
        assert task
        advance(world, task, Happening(event=Event.GAVE_UP, code="poison"))
        path = f"/v1/admin/tasks/alice/{made}/redrive"

        listed = call("GET", "/v1/admin/tasks", query={"state": "dead"}, claims=OPERATOR)
        assert [dead["task"]["id"] for dead in listed.body["tasks"]] == [made]
        assert call("GET", "/v1/admin/health", claims=OPERATOR).body["dead"] == 1
        assert call("POST", path, claims=OPERATOR).status == 202
        assert problem(call("POST", path, claims=OPERATOR)) == (409, "state-conflict", False)
        assert world.store.balance("alice").held == 8

    def test_see_how_long_providers_take(self, call: Call, world: World) -> None:
        assert call("GET", "/v1/admin/health", claims=OPERATOR).body["paces"] == []
        sketch = added(Sketch(since=START), [Sample(seconds=100, at=START)] * 150)
        world.durations.write("image_to_video", "motion", sketch)

        (pace,) = call("GET", "/v1/admin/health", claims=OPERATOR).body["paces"]

        assert (pace["kind"], pace["provider"]) == ("image_to_video", "motion")
        assert pace["samples"] == 150
        assert pace["p50"] == pace["p99"] == pytest.approx(100, rel=0.03)
        assert pace["window"] == pytest.approx(150, rel=0.04)

    def test_redrive_many_at_once(self, call: Call, world: World) -> None:
        made = order(call).body["id"]
        task = world.store.get(TaskRef(account="alice", id=made))
        assert task
        advance(world, task, Happening(event=Event.GAVE_UP, code="poison"))

        def redrive(**body: Any) -> list[dict[str, str]]:
            answer = call("POST", "/v1/admin/redrive", body=body, claims=OPERATOR)
            assert answer.status == 200
            tasks: list[dict[str, str]] = answer.body["tasks"]
            return tasks

        assert redrive(code="another") == []
        assert redrive(code="poison") == [{"account": "alice", "id": made, "outcome": "redriven"}]
        assert redrive() == []

    def test_see_the_audit(self, call: Call, world: World) -> None:
        assert problem(call("GET", "/v1/admin/audit", claims=OPERATOR))[0] == 404
        audit(world, world.clock.now() + timedelta(minutes=1))

        report = call("GET", "/v1/admin/audit", claims=OPERATOR).body

        assert (report["accounts"], report["found"], report["differences"]) == (1, 0, [])
        assert call("GET", "/v1/admin/spend", claims=OPERATOR).body["lines"] == []


class TestUploads:
    def test_give_a_form(self, call: Call) -> None:
        body = {"kind": "image_to_video", "content_type": "image/jpeg"}

        answer = call("POST", "/v1/uploads", body=body)

        assert answer.status == 201
        assert answer.body["fields"]["key"] == f"in/alice/{answer.body['upload']}"

    def test_refuse_other_types(self, call: Call) -> None:
        body = {"kind": "image_to_video", "content_type": "image/gif"}

        answer = call("POST", "/v1/uploads", body=body)

        assert problem(answer)[0] == 400
        assert answer.body["errors"][0]["pointer"] == "/content_type"


class TestDocuments:
    def test_openapi_names_every_route(self, call: Call) -> None:
        document = call("GET", "/v1/openapi.json", claims=None).body

        assert document["openapi"].startswith("3.1")
        assert set(document["paths"]) == {
            "/v1/uploads",
            "/v1/tasks",
            "/v1/tasks/{id}",
            "/v1/tasks/{id}/cancel",
            "/v1/tasks/{id}/result",
            "/v1/credits",
            "/v1/credits/ledger",
            "/v1/kinds",
            "/v1/admin/accounts/{id}/credits",
            "/v1/admin/tasks",
            "/v1/admin/tasks/{account}/{id}/redrive",
            "/v1/admin/health",
            "/v1/admin/redrive",
            "/v1/admin/spend",
            "/v1/admin/tasks/{account}/{id}/review",
            "/v1/admin/audit",
            "/v1/config",
            "/v1/quotes",
            "/v1/admin/hooks",
            "/v1/admin/hooks/replay",
        }

    def test_kinds_are_open_to_all(self, call: Call) -> None:
        kinds = call("GET", "/v1/kinds", claims=None).body["kinds"]

        assert "image_to_video" in [kind["name"] for kind in kinds]
        assert kinds[0]["input"]["additionalProperties"] is False

    def test_config_tells_how_to_sign_in(self, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
        found = call("GET", "/v1/config", claims=None).body

        assert found["operator_group"] == "operators"
        assert found["identity"] == {
            "sign_in": "password",
            "issuer": "https://cognito-idp.eu-west-1.amazonaws.com/pool",
            "client_id": "app-client",
            "endpoint": "https://cognito-idp.eu-west-1.amazonaws.com/",
        }
        monkeypatch.setenv("TALLYREEL_SIGN_IN", "redirect")
        elsewhere = call("GET", "/v1/config", claims=None).body["identity"]
        assert (elsewhere["sign_in"], elsewhere["endpoint"]) == ("redirect", None)

    def test_the_console_is_at_the_root(self, call: Call) -> None:
        answer = call("GET", "/", claims=None)

        assert answer.headers["Content-Type"].startswith("text/html")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "connect-src 'self' memory:" in policy
        assert "https://cognito-idp.eu-west-1.amazonaws.com;" in policy

    def test_the_consoles_files_are_kept_under_their_version_only(self, call: Call) -> None:
        page = call("GET", "/", claims=None)
        (script,) = re.findall(r'src="(console/[0-9a-f]{12}/app.js)"', page.body)

        kept = call("GET", f"/{script}", claims=None)
        assert kept.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert "immutable" in kept.headers["Cache-Control"]
        other = call("GET", "/console/before/app.js", claims=None)
        assert other.headers["Cache-Control"] == "no-cache"
        for name in ("nothing.js", "index.html", "..%2Fapi.py"):
            assert problem(call("GET", f"/console/x/{name}", claims=None))[0] == 404
        same = {"if-none-match": kept.headers["ETag"]}
        assert call("GET", f"/{script}", claims=None, headers=same).status == 304

    def test_a_quote_is_what_the_order_holds(self, call: Call) -> None:
        asked = {"kind": "image_to_video", "input": {"seconds": 4}}

        assert call("POST", "/v1/quotes", body=asked).body["price"] == 8
        assert order(call).body["credits"]["amount"] == 8
        wrong = asked | {"input": {"seconds": 0}}
        assert problem(call("POST", "/v1/quotes", body=wrong))[0] == 400
        assert problem(call("POST", "/v1/quotes", body=asked | {"kind": "song"}))[0] == 400

    def test_anything_else_is_a_problem(self, call: Call) -> None:
        assert problem(call("GET", "/v1/nothing"))[0] == 404
