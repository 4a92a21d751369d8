"""What exists in the cloud. Imports only declarations from `functions`."""
