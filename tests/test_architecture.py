"""The layout that the design promises, checked on the syntax trees."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FUNCTIONS = ROOT / "functions"

# folder -> the parts of `functions` that it may import
ALLOWED = {
    "domain": {"domain"},
    "media": {"domain", "media"},
    "analysis": {"domain", "analysis"},
    "kinds": {"domain", "kinds", "media", "analysis"},
    "signatures": {"domain", "signatures"},
    "providers": {"domain", "providers", "media", "signatures"},
    "pipeline": {"domain", "pipeline"},
    "adapters": {"domain", "adapters", "media"},
    "entrypoints": {"domain", "pipeline", "entrypoints", "bootstrap", "analysis"},
    "bootstrap": {"domain", "adapters", "kinds", "providers"},
}
STACKS_MAY = {"domain", "kinds", "providers"}
# third-party packages and the folders that may know them; anything else is for no folder
KNOWN_BY = {
    "boto3": {"adapters", "bootstrap"},
    "botocore": {"adapters", "bootstrap"},
    "mypy_boto3_dynamodb": {"adapters", "bootstrap"},
    "mypy_boto3_s3": {"adapters", "bootstrap"},
    "mypy_boto3_sqs": {"adapters", "bootstrap"},
    "mypy_boto3_stepfunctions": {"adapters", "bootstrap"},
    "mypy_boto3_secretsmanager": {"adapters", "bootstrap"},
    "aws_lambda_powertools": {"adapters", "entrypoints"},
    "pydantic": {"analysis", "kinds", "entrypoints"},
    "av": {"media"},
    "httpx": {"adapters"},
    "httpcore": {"adapters"},
    "idna": {"adapters"},
    "cryptography": {"signatures"},
    "standardwebhooks": {"signatures"},
    "websockets": {"media"},
    "ddsketch": {"adapters"},
}
STAGES = {
    "intake",
    "relay",
    "render",
    "verify",
    "settle",
    "sweep",
    "audit",
    "submit",
    "check",
    "fetch",
    "hooks",
    "measure",
}
FUNCTION_LINES_MAX = 50
MODULE_LINES_MAX = 350
ENTRYPOINT_LINES_MAX = 60


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "node_modules" not in path.parts)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def part_of(path: Path) -> str:
    first = path.relative_to(FUNCTIONS).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively"
            assert node.module
            if node.module == "functions":
                yield from (f"functions.{alias.name}" for alias in node.names)
            else:
                yield node.module


OURS = [path for path in modules(FUNCTIONS) if part_of(path) != "__init__"]


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_imports_stay_within_their_layer(path: Path) -> None:
    part = part_of(path)
    for module in imports(path):
        top, _, rest = module.partition(".")
        if top == "functions":
            assert rest.partition(".")[0] in ALLOWED[part], f"{name_of(path)} imports {module}"
        elif top in KNOWN_BY:
            assert part in KNOWN_BY[top], f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", modules(FUNCTIONS / "domain"), ids=name_of)
def test_the_domain_knows_no_clock_and_no_chance(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    for module in imports(path):
        assert module.partition(".")[0] not in {"time", "random", "secrets", "logging", "os"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"now", "utcnow", "today", "uuid4"} or "clock" in ast.dump(
                node.value
            ), f"{name_of(path)}:{node.lineno} asks what time it is"


@pytest.mark.parametrize("path", modules(ROOT / "stacks"), ids=name_of)
def test_stacks_see_declarations_only(path: Path) -> None:
    for module in imports(path):
        top, _, rest = module.partition(".")
        if top == "functions":
            assert rest.partition(".")[0] in STACKS_MAY, f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_functions_and_modules_stay_small(path: Path) -> None:
    text = path.read_text("utf-8")
    thin = path.parent.name == "entrypoints"
    assert len(text.splitlines()) <= (ENTRYPOINT_LINES_MAX if thin else MODULE_LINES_MAX)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno
            length = node.end_lineno - node.lineno + 1
            assert length <= FUNCTION_LINES_MAX, f"{name_of(path)}: {node.name} has {length}"


def test_a_stage_has_one_name_everywhere() -> None:
    def names(*parts: str) -> set[str]:
        return {path.stem for path in ROOT.joinpath(*parts).glob("*.py")}

    assert names("functions", "entrypoints") >= STAGES
    assert names("functions", "pipeline") >= STAGES
    assert names("stacks") >= STAGES - {"fetch", "verify"}  # with settle
    tested = names("tests", "pipeline")
    assert tested >= {f"test_{stage}" for stage in STAGES - {"verify"}}  # with settle


def test_every_entrypoint_is_a_stage() -> None:
    handlers = {
        path.stem
        for path in (FUNCTIONS / "entrypoints").glob("*.py")
        if "def handler(" in path.read_text("utf-8")
    }
    assert handlers == STAGES


def test_nothing_reads_the_environment_at_import() -> None:
    for path in OURS:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            read = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            assert not read & {"environ", "getenv"}, f"{name_of(path)} reads the environment"
