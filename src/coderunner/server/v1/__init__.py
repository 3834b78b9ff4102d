"""The fuller API."""
