"""Runs the deployed template on one machine: an emulator process and the real `cdk deploy`."""
