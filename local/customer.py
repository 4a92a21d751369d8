"""A customer of the local stack: signs in and uses the API as any program would."""

import secrets
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from local.stack import Stack
from local.trouble import LocalTrouble


class RefusedByApi(LocalTrouble):
    """A problem as the API answered it."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.code: str = problem.get("code", str(status))
        self.problem = problem
        said = problem.get("detail") or problem.get("message")
        faults = "".join(f" {e['pointer']}: {e['detail']}" for e in problem.get("errors") or [])
        super().__init__(f"{said}{faults} ({self.code})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """A signed-in user. `account` is the partition of everything it has."""

    account: str
    http: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Ask."""
        return self._checked(self.http.get(path, headers=headers))

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> httpx.Response:
        """Order; without a key given, under a new one."""
        sent = {"Idempotency-Key": key or secrets.token_urlsafe(24)}
        return self._checked(self.http.post(path, json=body, headers=sent))

    def upload(self, photo: Path, content_type: str, kind: str = "image_to_video") -> str:
        """Send a file through an upload form; its id goes into the order."""
        slot = self.post("/v1/uploads", {"kind": kind, "content_type": content_type}).json()
        files = {"file": (photo.name, photo.read_bytes(), content_type)}
        sent = httpx.post(slot["url"], data=slot["fields"], files=files, trust_env=False)
        if sent.is_error:
            raise LocalTrouble(f"The upload was refused with {sent.status_code}: {sent.text[:200]}")
        return str(slot["upload"])

    def close(self) -> None:
        """Let go of the connection."""
        self.http.close()

    @staticmethod
    def _checked(answer: httpx.Response) -> httpx.Response:
        if answer.is_error:
            raise RefusedByApi(answer.status_code, answer.json())
        return answer


def sign_in(stack: Stack, name: str, *, groups: tuple[str, ...] = ()) -> Customer:
    """Make a user of the stack's own pool if there is none of that name, and sign it in."""
    pool, client = stack.outputs["UserPoolId"], stack.outputs["UserPoolClientId"]
    password = f"Local-{secrets.token_urlsafe(18)}-1!"
    with closing(stack.client("cognito-idp")) as cognito:
        token, account = _token(cognito, pool, client, name, password, groups)
    http = httpx.Client(
        base_url=stack.api_url,
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
        trust_env=False,
    )
    return Customer(account=account, http=http)


def _token(
    cognito: Any, pool: str, client: str, name: str, password: str, groups: tuple[str, ...]
) -> tuple[str, str]:
    with suppress(cognito.exceptions.UsernameExistsException):
        cognito.admin_create_user(
            UserPoolId=pool,
            Username=name,
            MessageAction="SUPPRESS",
            UserAttributes=[
                {"Name": "email", "Value": name},
                {"Name": "email_verified", "Value": "true"},
            ],
        )
    cognito.admin_set_user_password(
        UserPoolId=pool, Username=name, Password=password, Permanent=True
    )
    for group in groups:
        cognito.admin_add_user_to_group(UserPoolId=pool, Username=name, GroupName=group)
    tokens = cognito.initiate_auth(
        ClientId=client,
        AuthFlow="USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": name, "PASSWORD": password},
    )["AuthenticationResult"]
    user: Mapping[str, Any] = cognito.admin_get_user(UserPoolId=pool, Username=name)
    attributes = {each["Name"]: each["Value"] for each in user["UserAttributes"]}
    return tokens["AccessToken"], attributes["sub"]
