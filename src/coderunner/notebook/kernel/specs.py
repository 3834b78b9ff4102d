"""Which kernels there are: those that Jupyter knows."""

from __future__ import annotations

from coderunner.errors import ToolchainMissing, UnknownLanguage
from coderunner.notebook.kernel.command import Command, command_of

_INSTALL = 'pip install "coderunner[notebook]"'


def find_kernel(name: str) -> Command:
    """Raises UnknownLanguage if there is none of this name."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ImportError as error:
        raise ToolchainMissing(
            f"sessions speak with kernels by way of jupyter_client: {error}", hint=_INSTALL
        ) from None
    specs = KernelSpecManager()
    try:
        spec = specs.get_kernel_spec(name)
    except (NoSuchKernel, ValueError):
        known = ", ".join(sorted(specs.find_kernel_specs()))
        if not known:
            raise ToolchainMissing("there is no Jupyter kernel here", hint=_INSTALL) from None
        raise UnknownLanguage(
            f"no kernel is called {name!r:.80}", hint=f"there are {known}"
        ) from None
    by_message = spec.interrupt_mode == "message"
    return command_of(spec.argv, spec.env, spec.resource_dir, by_message=by_message)
