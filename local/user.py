"""`python -m local.user EMAIL`: somebody who can sign in to the local stack's console."""

import argparse
import secrets
import sys
from contextlib import closing

from local import stack
from local.customer import sign_in
from local.instance import Instance
from local.stack import Stack
from local.trouble import LocalTrouble

CREDITS = 100
GRANTER = "granter@local.invalid"


def main() -> int:
    """Make the user, or give one that is there a new password."""
    parser = argparse.ArgumentParser(prog="python -m local.user", description=__doc__)
    parser.add_argument("email")
    parser.add_argument("--operator", action="store_true", help="may look after all accounts")
    parser.add_argument("--credits", type=int, default=CREDITS)
    given = parser.parse_args()
    try:
        live = stack.running(Instance.from_environment())
        groups = ("operators",) if given.operator else ()
        password = made(live, given.email, credits=given.credits, groups=groups)
    except LocalTrouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    print(f"Console   {live.browser_url}")
    print(f"Email     {given.email}")
    print(f"Password  {password}")
    return 0


def made(live: Stack, email: str, *, credits: int, groups: tuple[str, ...] = ()) -> str:  # noqa: A002 - the product's word
    """Make a user with credits and tell its password."""
    password = f"Local-{secrets.token_urlsafe(9)}-1!"
    with (
        closing(sign_in(live, GRANTER, groups=("operators",))) as granter,
        closing(sign_in(live, email, groups=groups)) as user,
        closing(live.client("cognito-idp")) as cognito,
    ):
        pool = live.outputs["UserPoolId"]
        cognito.admin_set_user_password(
            UserPoolId=pool, Username=email, Password=password, Permanent=True
        )
        if credits > 0:
            granter.post(f"/v1/admin/accounts/{user.account}/credits", {"amount": credits})
    return password


if __name__ == "__main__":
    sys.exit(main())
