"""The embedded engine: no daemon, no root, no image."""

from coderunner.engines.linux.engine import LinuxEngine

__all__ = ["LinuxEngine"]
