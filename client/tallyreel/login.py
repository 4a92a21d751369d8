"""Signing in with a password: tokens from the Cognito client that the API names."""

import time
from collections.abc import Callable
from typing import Any

import httpx

from tallyreel.errors import NotSignedIn, TallyreelError, Unreachable
from tallyreel.wire import located

RENEW_SECONDS = 120.0  # before a token ends
TARGET = "AWSCognitoIdentityProviderService"


class Login:
    """Gives access tokens and renews them: hand `login.token` to a client."""

    def __init__(
        self, base_url: str, *, now: Callable[[], float] = time.time, timeout: float = 20.0
    ) -> None:
        self._base, self._host = located(base_url)
        self._now = now
        self._timeout = timeout
        self._identity: dict[str, Any] | None = None
        self.access = ""
        self.refresh = ""
        self.until = 0.0

    def sign_in(self, email: str, password: str) -> None:
        """Trade a password for tokens."""
        self._keep(
            self._ask(
                "InitiateAuth",
                AuthFlow="USER_PASSWORD_AUTH",
                AuthParameters={"USERNAME": email, "PASSWORD": password},
            )
        )

    def restore(self, refresh: str) -> None:
        """Go on with a refresh token that was kept."""
        self.access, self.refresh, self.until = "", refresh, 0.0

    def token(self) -> str:
        """Give a token that is good for a while."""
        if self._now() > self.until - RENEW_SECONDS and self.refresh:
            self._keep(
                self._ask(
                    "InitiateAuth",
                    AuthFlow="REFRESH_TOKEN_AUTH",
                    AuthParameters={"REFRESH_TOKEN": self.refresh},
                )
            )
        if not self.access:
            raise NotSignedIn(401, {"detail": "Sign in first."})
        return self.access

    def _keep(self, answer: dict[str, Any]) -> None:
        if "AuthenticationResult" not in answer:
            asked = answer.get("ChallengeName")
            raise TallyreelError(f"Signing in needs a step that only a browser offers: {asked}")
        tokens = answer["AuthenticationResult"]
        self.access = tokens["AccessToken"]
        self.refresh = tokens.get("RefreshToken", self.refresh)
        self.until = self._now() + float(tokens.get("ExpiresIn", 3600))

    def identity(self) -> dict[str, Any]:
        """Learn whose tokens the API accepts."""
        if self._identity is None:
            self._identity = dict(
                self._http("GET", f"{self._base}/v1/config", headers=self._host)["identity"]
            )
        return self._identity

    def _ask(self, action: str, **body: Any) -> dict[str, Any]:
        identity = self.identity()
        if identity["endpoint"] is None:
            raise TallyreelError(f"Get an access token from {identity['issuer']} and use that.")
        return self._http(
            "POST",
            identity["endpoint"],
            headers={
                "Content-Type": "application/x-amz-json-1.1",
                "X-Amz-Target": f"{TARGET}.{action}",
            },
            json={"ClientId": identity["client_id"], **body},
        )

    def _http(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        try:
            answer = httpx.request(method, url, timeout=self._timeout, **more)
        except httpx.TransportError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        if answer.status_code >= 500:  # noqa: PLR2004 - where trouble of the service begins
            raise Unreachable(f"HTTP {answer.status_code}")
        body: dict[str, Any] = answer.json()
        if answer.is_error:
            raise NotSignedIn(answer.status_code, {"detail": body.get("message", "Refused.")})
        return body
