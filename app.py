"""Names the stacks in order and hands them their configuration."""

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from stacks.config import Config
from stacks.pipeline import PipelineStack
from stacks.storage import StorageStack
from stacks.worker import WorkerStack


def main() -> None:
    """Write the cloud assembly: no AWS call, no Docker, network only for wheels not yet here."""
    app = cdk.App()
    config = Config.from_context(app.node.try_get_context)
    # Beside the platform of the layers' wheels and the console's origin, this is all that `local`
    # changes: the emulator has no bootstrap roles to assume, so assets and templates go up with
    # the caller's own keys.
    synthesizer = cdk.CliCredentialsStackSynthesizer() if config.local else None
    storage = StorageStack(app, f"{config.name}Storage", config=config, synthesizer=synthesizer)
    pipeline = PipelineStack(
        app, f"{config.name}Pipeline", config=config, storage=storage, synthesizer=synthesizer
    )
    if not config.local:  # there, `local/worker.py` is the worker
        WorkerStack(
            app, f"{config.name}Worker", config=config, storage=storage, worker=pipeline.worker
        )
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks())
    app.synth()


if __name__ == "__main__":
    main()
