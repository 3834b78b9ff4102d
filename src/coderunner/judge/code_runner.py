"""The judge's front door."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping

from coderunner.background import background
from coderunner.judge.judging import judge
from coderunner.judge.language import Language, registry
from coderunner.judge.on_docker import docker_runner
from coderunner.judge.request import ExecutionRequest
from coderunner.judge.result import ExecutionResult, TestResult, View
from coderunner.judge.test_runner import Told
from coderunner.runner import Runner

OnResult = Callable[[TestResult], Awaitable[None] | None]
"""Is told of each test as soon as it is judged."""


class CodeRunner:
    """Runs code against test cases and says how it did.

    All of them share one sandbox in the background, so making one costs nothing and there is
    nothing to close. Inside an event loop with a `Runner` of your own, pass that.
    """

    def __init__(
        self,
        docker_client: object | None = None,
        images: Mapping[Language, str] | Mapping[str, str] | None = None,
        *,
        runner: Runner | None = None,
    ) -> None:
        """With a client of docker-py, every program runs in containers of that daemon. `images`
        names the languages that may be used, with the image of each for Docker."""
        self.client = docker_client
        self.images = None if images is None else _by_language(images)
        self._runner = runner

    def __repr__(self) -> str:
        if self._runner is not None:
            return f"CodeRunner(engine={self._runner.engine.name!r})"
        return "CodeRunner()" if self.client is None else f"CodeRunner({self.client!r})"

    async def execute(
        self,
        request: ExecutionRequest,
        *,
        view: View = View.AUTHOR,
        on_result: OnResult | None = None,
    ) -> ExecutionResult:
        """Compile the code and run its tests. Cancelling this ends all that runs, at once.

        The result may be shown to the author of the code: nothing of hidden tests is in it. With
        `view=View.GRADER` everything is, and `result.for_author()` makes the one of the other.
        """
        told = _teller(on_result, View(view))
        if self._runner is not None:
            return await self._execute(self._runner, request, View(view), told)
        if told is not None:
            told = _in_loop(told, asyncio.get_running_loop())
        return await background().hand_over(self._in_background(request, View(view), told))

    def execute_sync(
        self,
        request: ExecutionRequest,
        *,
        view: View = View.AUTHOR,
        on_result: OnResult | None = None,
    ) -> ExecutionResult:
        """The same without `async`. `on_result` is called in another thread."""
        told = _teller(on_result, View(view))
        return background().call(self._in_background(request, View(view), told))

    async def _in_background(
        self, request: ExecutionRequest, view: View, told: Told | None
    ) -> ExecutionResult:
        return await self._execute(await self._shared_runner(), request, view, told)

    async def _shared_runner(self) -> Runner:
        if self.client is None:
            return await background().runner()
        images = {language.value: image for language, image in (self.images or {}).items()}
        return await docker_runner(self.client, images)

    async def _execute(
        self, runner: Runner, request: ExecutionRequest, view: View, told: Told | None
    ) -> ExecutionResult:
        result = await judge(runner, request, supported=self.images, told=told)
        return result if view is View.GRADER else result.for_author()


def _by_language(images: Mapping[Language, str] | Mapping[str, str]) -> dict[Language, str]:
    """Raises UnknownLanguage for a name that is none's."""
    return {_language(name): image for name, image in images.items()}


def _language(name: Language | str) -> Language:
    if isinstance(name, Language):
        return name
    try:
        return Language(name)
    except ValueError:
        return Language(registry().get(name).name)  # which knows what may have been meant


def _teller(on_result: OnResult | None, view: View) -> Told | None:
    if on_result is None:
        return None

    async def told(result: TestResult) -> None:
        answer = on_result(result if view is View.GRADER else result.for_author())
        if inspect.isawaitable(answer):
            await answer

    return told


def _in_loop(told: Told, loop: asyncio.AbstractEventLoop) -> Told:
    """The same, carried out in the loop of who wants to be told. What it raises comes back."""

    async def there(result: TestResult) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(told(result), loop))

    return there
