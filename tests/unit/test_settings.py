"""Settings as a caller writes them, and as variables say them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner import InvalidSettings, Isolation, Limits, Settings
from coderunner.settings import CEILING, PRELOAD, DockerSettings

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("CODERUNNER_COMPILE_CACHE_MB", raising=False)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("numpy", ["numpy"]),
        ("numpy,pandas", ["numpy", "pandas"]),
        (" numpy , os.path,", ["numpy", "os.path"]),
        ('["numpy", "pandas"]', ["numpy", "pandas"]),
        ("[]", []),
        ("", []),
    ],
)
def test_modules_to_preload(monkeypatch: pytest.MonkeyPatch, text: str, names: list[str]) -> None:
    assert Settings(preload=text).preload == names  # type: ignore[arg-type]  # a caller's shorthand
    assert Settings(preload=names).preload == names
    assert Settings().preload == list(PRELOAD)
    monkeypatch.setenv("CODERUNNER_PRELOAD", text)
    assert Settings().preload == names


@pytest.mark.parametrize("text", ["numpy;pandas", '["a b"]', "a..b"])
def test_what_is_no_module_is_told_with_the_form(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    with pytest.raises(InvalidSettings, match=r"^preload: .*CODERUNNER_PRELOAD=numpy,pandas"):
        Settings(preload=text)  # type: ignore[arg-type]  # that is the point
    monkeypatch.setenv("CODERUNNER_PRELOAD", text)
    with pytest.raises(InvalidSettings, match=r"^CODERUNNER_PRELOAD: .*numpy,pandas"):
        Settings()


def test_variables_reach_into_sections_and_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODERUNNER_DOCKER__READY", "3")
    monkeypatch.setenv("CODERUNNER_DOCKER", '{"runtime": "runsc", "ready": 2}')
    monkeypatch.setenv("CODERUNNER_DOCKER__IMAGES__PYTHON", "mine")
    monkeypatch.setenv("CODERUNNER_CEILING__WALL_MS", "5000")
    monkeypatch.setenv("CODERUNNER_SERVER__CEILING__WALL_MS", "6000")
    monkeypatch.setenv("CODERUNNER_SERVER__TOKENS", "one, two")
    settings = Settings()
    assert settings.docker == DockerSettings(runtime="runsc", ready=3, images={"python": "mine"})
    assert settings.ceiling == CEILING.but({"wall_ms": 5000})
    assert settings.server.ceiling.wall_ms == 6000
    assert settings.server.ceiling.memory_mb < CEILING.memory_mb
    assert [token.get_secret_value() for token in settings.server.tokens] == ["one", "two"]


def test_what_is_passed_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODERUNNER_ENGINE", "docker")
    monkeypatch.setenv("CODERUNNER_CEILING__WALL_MS", "5000")
    assert Settings(engine="process").engine == "process"
    assert Settings(ceiling=Limits()).ceiling == Limits()
    assert Settings().engine == "docker"


def test_the_service_wants_more_isolation_than_a_command() -> None:
    assert Settings().min_isolation is Isolation.SAMPLED
    assert Settings().server.min_isolation is Isolation.FULL


@pytest.mark.parametrize(
    ("name", "value", "message", "hint"),
    [
        ("ENGIN", "linux", "CODERUNNER_ENGIN: no setting", "did you mean CODERUNNER_ENGINE?"),
        ("DOCKER_RUNTIME", "x", "CODERUNNER_DOCKER_RUNTIME: no", "mean CODERUNNER_DOCKER__RUNTIME"),
        ("DOCKER__RUNTIM", "x", "CODERUNNER_DOCKER__RUNTIM: no", "mean CODERUNNER_DOCKER__RUNTIME"),
        ("PORT", "80", "CODERUNNER_PORT: no setting", "did you mean CODERUNNER_SERVER__PORT?"),
        ("ENGINE__X", "1", "CODERUNNER_ENGINE__X: no setting", "CODERUNNER_ENGINE?"),
        ("QUUX", "1", "CODERUNNER_QUUX: no setting", "coderunner config show"),
        ("DOCKER", '{"runtim": ""}', "CODERUNNER_DOCKER: no setting is called docker.runtim",
         "did you mean docker.runtime?"),
        ("DOCKER", "runsc", "CODERUNNER_DOCKER: must be JSON, not 'runsc'", "CODERUNNER_DOCKER="),
        ("WARM", "maybe", "CODERUNNER_WARM: must be true or false, not 'maybe'", ""),
        ("COMPILE_CACHE_MB", "-1", "CODERUNNER_COMPILE_CACHE_MB: must be at least 0, not '-1'", ""),
        ("CEILING__WALL_MS", "x", "CODERUNNER_CEILING__WALL_MS: must be a whole number", ""),
        ("CEILING__FILES", "0", "CODERUNNER_CEILING__FILES: must be above zero", ""),
        ("MIN_ISOLATION", "ful", "MIN_ISOLATION: must be 'none', 'sampled', 'full' or 'vm'", ""),
        ("SERVER__PORT", "70000", "CODERUNNER_SERVER__PORT: must be at most 65535", ""),
        ("PRELOAD", "[numpy", "CODERUNNER_PRELOAD: must be a list, not '[numpy'", ""),
        ("SERVER__PRESTART", "[1]", "CODERUNNER_SERVER__PRESTART: must be text, not 1", ""),
    ],
)  # fmt: skip
def test_a_variable_that_makes_no_sense(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str, hint: str
) -> None:
    monkeypatch.setenv(f"CODERUNNER_{name}", value)
    with pytest.raises(InvalidSettings) as caught:
        Settings()
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_mistake_of_a_caller_names_the_setting() -> None:
    with pytest.raises(InvalidSettings, match=r"no setting is called engin$") as caught:
        Settings(engin="linux")  # type: ignore[call-arg]  # that is the point
    assert caught.value.hint == "did you mean engine?"
    with pytest.raises(InvalidSettings, match=r"^docker\.ready: must be a whole number, not 'x'"):
        Settings(docker={"ready": "x"})  # type: ignore[arg-type]  # that is the point


def test_a_secret_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODERUNNER_SERVER__TOKENS", '[["hush"]]')
    with pytest.raises(InvalidSettings, match=r"^CODERUNNER_SERVER__TOKENS: must be text$"):
        Settings()
    monkeypatch.setenv("CODERUNNER_SERVER__TOKENS", "hush")
    assert "hush" not in repr(Settings())


def test_what_orchestrators_say_of_a_service_of_our_name_is_no_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT_8000_TCP_ADDR"):
        monkeypatch.setenv(f"CODERUNNER_{name}", "10.0.0.1")
    monkeypatch.setenv("CODERUNNER_PORT", "tcp://10.0.0.1:8000")
    assert Settings().server.port == 8000
