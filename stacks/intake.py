"""The HTTP API and the function behind it."""

import json
from typing import cast

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Validations
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.config import Config
from stacks.function import RETENTION, Package, PipelineFunction

# Half a vCPU: an answer is a few DynamoDB calls, and a cold start is mostly imports.
MEMORY_MB = 1024
TIMEOUT_SECONDS = 29  # the gateway gives up at 30

SIGNED_IN = (
    "POST /v1/uploads",
    "POST /v1/tasks",
    "GET /v1/tasks",
    "GET /v1/tasks/{id}",
    "GET /v1/tasks/{id}/result",
    "POST /v1/tasks/{id}/cancel",
    "POST /v1/quotes",
    "GET /v1/credits",
    "GET /v1/credits/ledger",
    "POST /v1/admin/accounts/{id}/credits",
    "GET /v1/admin/tasks",
    "POST /v1/admin/tasks/{account}/{id}/redrive",
    "POST /v1/admin/tasks/{account}/{id}/review",
    "POST /v1/admin/redrive",
    "GET /v1/admin/audit",
    "GET /v1/admin/spend",
    "GET /v1/admin/health",
)
# Nothing here is an account's: the price list, the API's description, the console's files.
OPEN = (
    "GET /v1/kinds",
    "GET /v1/config",
    "GET /v1/openapi.json",
    "GET /",
    "GET /console/{version}/{file}",
)


# Who, what and how it went; no header, no query: those may carry what a log must not keep.
ACCESS_LOG = {
    "request": "$context.requestId",
    "account": "$context.authorizer.claims.sub",
    "route": "$context.routeKey",
    "status": "$context.status",
    "milliseconds": "$context.responseLatency",
    "bytes": "$context.responseLength",
    "refused": "$context.authorizer.error",
    "failed": "$context.integrationErrorMessage",
}


class Intake(Construct):
    """Takes requests in. The authorizer proves who asks; the function decides what they may do."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: Package,
        environment: dict[str, str],
        issuer: str,
        audience: list[str],
    ) -> None:
        super().__init__(scope, construct_id)
        config = package.config
        self.audience = audience
        self.intake = PipelineFunction(
            self,
            "intake",
            package=package,
            description="Answers the HTTP API",
            memory_mb=MEMORY_MB,
            timeout_seconds=TIMEOUT_SECONDS,
            environment=environment
            | {
                "TALLYREEL_TOKEN_CLIENTS": ",".join(audience),
                "TALLYREEL_ISSUER": issuer,
                "TALLYREEL_SIGN_IN": "redirect" if config.jwt_issuer else "password",
                "TALLYREEL_OPERATOR_GROUP": config.operator_group,
            }
            | _sign_in_origins(config),
        )
        self.api = api.HttpApi(
            self,
            "Api",
            api_name=config.name,
            create_default_stage=False,
            cors_preflight=_cors(config) if config.cors_origins else None,
        )
        self._stage(config)
        self._routes(issuer, audience)

    def _stage(self, config: Config) -> None:
        access = logs.LogGroup(
            self,
            "AccessLogs",
            retention=RETENTION[config.log_retention_days],
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.stage = api.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=api.ThrottleSettings(
                rate_limit=config.api_requests_per_second, burst_limit=config.api_burst
            ),
        )
        made = cast("api.CfnStage", self.stage.node.default_child)
        made.access_log_settings = api.CfnStage.AccessLogSettingsProperty(
            destination_arn=access.log_group_arn, format=json.dumps(ACCESS_LOG)
        )

    def _routes(self, issuer: str, audience: list[str]) -> None:
        jwt = self._jwt = authorizers.HttpJwtAuthorizer("Jwt", issuer, jwt_audience=audience)
        target = integrations.HttpLambdaIntegration(
            "Intake",
            self.intake.function,
            # One permission for the API in place of one per route: a policy holds 20 KB.
            scope_permission_to_route=False,
        )
        for route in SIGNED_IN:
            self._route(route, target, jwt)
        for route in OPEN:
            for made in self._route(route, target, api.HttpNoneAuthorizer()):
                Validations.of(made).acknowledge(
                    Acknowledgment(
                        id="AwsSolutions-APIG4",
                        reason="Public on purpose: it shows nothing of any account.",
                    )
                )

    def takes_hooks(
        self, stage: PipelineFunction, route: str, *, operators: tuple[str, ...]
    ) -> None:
        """Add the route that providers call, and those on which operators look after it."""
        target = integrations.HttpLambdaIntegration(
            "Hooks", stage.function, scope_permission_to_route=False
        )
        for signed_in in operators:
            self._route(signed_in, target, self._jwt)
        for made in self._route(route, target, api.HttpNoneAuthorizer()):
            Validations.of(made).acknowledge(
                Acknowledgment(
                    id="AwsSolutions-APIG4",
                    reason="Providers have no token of ours; the path holds an unguessable one, "
                    "signatures are checked, and a call by itself moves nothing.",
                )
            )

    def _route(
        self, route: str, target: api.HttpRouteIntegration, authorizer: api.IHttpRouteAuthorizer
    ) -> list[api.HttpRoute]:
        method, path = route.split(" ")
        return self.api.add_routes(
            path=path,
            methods=[api.HttpMethod[method]],
            integration=target,
            authorizer=authorizer,
        )


def _sign_in_origins(config: Config) -> dict[str, str]:
    told = ",".join(config.sign_in_origins)
    return {"TALLYREEL_SIGN_IN_ORIGINS": told} if told else {}


def _cors(config: Config) -> api.CorsPreflightOptions:
    return api.CorsPreflightOptions(
        allow_origins=list(config.cors_origins),
        allow_methods=[api.CorsHttpMethod.GET, api.CorsHttpMethod.POST],
        allow_headers=["authorization", "content-type", "idempotency-key", "if-none-match"],
        expose_headers=["etag", "idempotency-replayed", "location", "retry-after"],
        max_age=Duration.hours(1),
    )
