"""Remote providers: their API calls and their files, with their secrets."""

from collections.abc import Callable, Iterable
from pathlib import Path

from functions.adapters.fetch import Downloader
from functions.adapters.provider_http import ProviderHttp
from functions.domain.jobs import Download, RemoteOutput
from functions.domain.ports import Clock
from functions.domain.providers import Remote, Secrets

OUTPUT_BYTES_MAX = 400_000_000  # fits the function's disk beside what is made of it
DOWNLOAD_SECONDS = 120.0


class ProviderCallsOverHttp(ProviderHttp):
    """Provides `ProviderCalls`."""

    def __init__(
        self,
        secrets: Callable[[str], Secrets],
        clock: Clock,
        *,
        test_origins: Iterable[str] = (),
    ) -> None:
        super().__init__(secrets, clock)
        self._read_secrets = secrets
        self._downloader = Downloader(seconds_max=DOWNLOAD_SECONDS, test_origins=test_origins)

    def download(self, provider: Remote, output: RemoteOutput, path: Path) -> Download:
        return self._downloader.fetch(
            provider.download(output, self._read_secrets(provider.name)),
            path,
            hosts=provider.output_hosts,
            bytes_max=OUTPUT_BYTES_MAX,
        )
