"""How callers get a token: from Cognito with a password, or on their issuer's own page."""

from urllib.parse import urlsplit

from functions.bootstrap import Settings
from functions.entrypoints.http.models import IdentityView, SignIn


def identity_view(settings: Settings) -> IdentityView:
    """Say which issuer and client a token must be of."""
    issuer = settings["ISSUER"]
    sign_in = SignIn(settings["SIGN_IN"])
    by_password = sign_in is SignIn.PASSWORD
    return IdentityView(
        sign_in=sign_in,
        issuer=issuer,
        client_id=settings["TOKEN_CLIENTS"].partition(",")[0],
        endpoint=_endpoint(settings) if by_password else None,
    )


def identity_origins(settings: Settings) -> list[str]:
    """Say where a page must be able to ask for tokens."""
    if SignIn(settings["SIGN_IN"]) is SignIn.PASSWORD:
        return [_endpoint(settings).rstrip("/")]
    return [_origin(settings["ISSUER"]), *sorted(settings.words("SIGN_IN_ORIGINS"))]


def _endpoint(settings: Settings) -> str:
    """Find Cognito: beside its issuer, or where this machine's AWS services are told to be."""
    return (settings.aws_endpoint or _origin(settings["ISSUER"])) + "/"


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
