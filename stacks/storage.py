"""What must outlive every deploy: the table, the media bucket, the user pool."""

from dataclasses import dataclass
from math import ceil

from aws_cdk import (
    Acknowledgment,
    Aws,
    CfnOutput,
    Duration,
    IStackSynthesizer,
    RemovalPolicy,
    Stack,
    Validations,
)
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from constructs import Construct

from functions import kinds
from stacks.config import Config

DUE_INDEX = "due"

SECONDS_PER_DAY = 86_400
# One day more than promised, because a lifecycle rule counts from the next midnight.
UPLOAD_DAYS = 2
HOOK_DAYS = 30  # so long a parked call can wait for a fix
OUTPUT_DAYS = 1 + max(
    ceil(kind.limits.result_seconds / SECONDS_PER_DAY) for kind in kinds.load().values()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInUse:
    """The table that the pipeline works on."""

    name: str
    arn: str
    stream_arn: str


class StorageStack(Stack):
    """Retained and protected, so that no change of the pipeline can reach what is stored."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        synthesizer: IStackSynthesizer | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Tallyreel: tasks, credits and media",
            synthesizer=synthesizer,
        )
        self.table = _table(self)
        self.bucket = _bucket(self, config)
        self.users = None if config.jwt_issuer else UserPool(self, "Users", config=config)
        CfnOutput(self, "TableName", value=self.table.table_name)
        CfnOutput(self, "BucketName", value=self.bucket.bucket_name)
        if self.users:
            CfnOutput(self, "UserPoolId", value=self.users.pool.user_pool_id)
            CfnOutput(self, "UserPoolClientId", value=self.users.client.user_pool_client_id)

    def table_in_use(self, config: Config) -> TableInUse:
        """Name the stack's own table, or the restored one that takes its place."""
        # Exported in either case: what a deployed pipeline imports cannot be taken away first.
        own = TableInUse(
            name=str(self.export_value(self.table.table_name)),
            arn=str(self.export_value(self.table.table_arn)),
            stream_arn=str(self.export_value(self.table.table_stream_arn)),
        )
        if not config.table_stream_arn:
            return own
        arn, _, _ = config.table_stream_arn.partition("/stream/")
        name = arn.rpartition("/")[2]
        return TableInUse(name=name, arn=arn, stream_arn=config.table_stream_arn)


def _table(scope: Construct) -> dynamodb.Table:
    table = dynamodb.Table(
        scope,
        "Table",
        partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
        sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        stream=dynamodb.StreamViewType.NEW_IMAGE,
        time_to_live_attribute="ttl",
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        deletion_protection=True,
        removal_policy=RemovalPolicy.RETAIN,
    )
    table.add_global_secondary_index(
        index_name=DUE_INDEX,
        partition_key=dynamodb.Attribute(name="due_shard", type=dynamodb.AttributeType.STRING),
        sort_key=dynamodb.Attribute(name="due_at", type=dynamodb.AttributeType.STRING),
        projection_type=dynamodb.ProjectionType.KEYS_ONLY,
    )
    return table


def _bucket(scope: Construct, config: Config) -> s3.Bucket:
    upload_from_a_page = s3.CorsRule(
        allowed_methods=[s3.HttpMethods.POST, s3.HttpMethods.GET, s3.HttpMethods.HEAD],
        # The console is served by the API, whose name is not known before it is made. Naming an
        # origin opens nothing: every request needs a signed form or link all the same.
        allowed_origins=[_console_origins(config), *config.cors_origins],
        allowed_headers=["*"],
        exposed_headers=["ETag"],
        max_age=3600,
    )
    bucket = s3.Bucket(
        scope,
        "Media",
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        versioned=False,  # every key is written once; an old version would only outlive its promise
        removal_policy=RemovalPolicy.RETAIN,
        cors=[upload_from_a_page],
        lifecycle_rules=[
            _expiry("uploads", "in/", UPLOAD_DAYS),
            _expiry("outputs", "out/", OUTPUT_DAYS),
            _expiry("scratch", "tmp/", 1),
            _expiry("calls", "hooks/", HOOK_DAYS),
            s3.LifecycleRule(
                id="unfinished uploads", abort_incomplete_multipart_upload_after=Duration.days(1)
            ),
        ],
    )
    Validations.of(bucket).acknowledge(
        Acknowledgment(
            id="AwsSolutions-S1",
            reason="Every read is by a signed link that the API logged with its task, and files "
            "live for days: access logs would cost more than they tell. CloudTrail data events "
            "can be switched on for an investigation.",
        )
    )
    return bucket


def _console_origins(config: Config) -> str:
    return "http://*" if config.local else f"https://*.execute-api.{Aws.REGION}.amazonaws.com"


def _expiry(name: str, prefix: str, days: int) -> s3.LifecycleRule:
    return s3.LifecycleRule(id=name, prefix=prefix, expiration=Duration.days(days))


class UserPool(Construct):
    """Customers and operators, unless another issuer is configured."""

    def __init__(self, scope: Construct, construct_id: str, *, config: Config) -> None:
        super().__init__(scope, construct_id)
        self.pool = cognito.UserPool(
            self,
            "Pool",
            self_sign_up_enabled=config.self_sign_up,
            sign_in_aliases=cognito.SignInAliases(email=True),
            auto_verify=cognito.AutoVerifiedAttrs(email=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_digits=True,
                require_lowercase=True,
                require_uppercase=True,
                require_symbols=True,
                temp_password_validity=Duration.days(3),
            ),
            mfa=cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(sms=False, otp=True),
            deletion_protection=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.client = self.pool.add_client(
            "App",
            generate_secret=False,
            auth_flows=cognito.AuthFlow(user_password=True, user_srp=True),
            prevent_user_existence_errors=True,
            access_token_validity=Duration.hours(1),
            id_token_validity=Duration.hours(1),
            refresh_token_validity=Duration.days(30),
            disable_o_auth=True,
        )
        self.operators = cognito.UserPoolGroup(
            self, "Operators", user_pool=self.pool, group_name=config.operator_group
        )
        # Spelled out in place of the pool's ProviderURL attribute, which the emulator lacks.
        self.issuer = f"https://cognito-idp.{Aws.REGION}.amazonaws.com/{self.pool.user_pool_id}"
        self._acknowledge()

    def _acknowledge(self) -> None:
        Validations.of(self.pool).acknowledge(
            Acknowledgment(
                id="AwsSolutions-COG2",
                reason="A second factor is offered, not forced: an API customer's program signs "
                "in without a person.",
            ),
            Acknowledgment(
                id="AwsSolutions-COG3",
                reason="Threat protection belongs to the Plus plan, which is paid per user; "
                "balances cannot be withdrawn, so a stolen account can only order clips.",
            ),
            Acknowledgment(
                id="AwsSolutions-COG8",
                reason="The Plus plan is paid per user; see COG3.",
            ),
        )
