"""Settings in files: which ones, who wins, what is told of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner import InvalidSettings, Settings
from coderunner.settings.effective import effective

pytestmark = pytest.mark.unit

# As the judge's specification has it.
SPECIFIED = """\
# coderunner_config.yaml
docker:
  default_image_prefix: "coderunner"
  pull_policy: "never"  # "always", "if_not_present", "never"

limits:
  memory_mb: 128
  cpu_cores: 2.0
  per_test_timeout_ms: 4000
  total_timeout_ms: 50000
  max_output_size_kb: 32
  max_processes: 16

languages:
  python:
    image: "python:3.11-slim"
    extension: "py"
    compile: false
  cpp:
    image: "gcc:12"
    extension: "cpp"
    compile: true
    compile_command: ["g++", "-O2", "-std=c++17", "-o", "solution", "solution.cpp"]

security:
  network_disabled: true
  read_only_root: true
  no_new_privileges: true
  cap_drop_all: true
"""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The user's directory of settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "coderunner"
    folder.mkdir()
    return folder


def origins() -> dict[str, str]:
    return {each.key: each.origin for each in effective()}


def test_the_stronger_place_wins_key_by_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "coderunner_config.yaml").write_text(SPECIFIED)
    (home / "coderunner.toml").write_text(
        '[docker]\npull_policy = "always"\nready = 2\n[docker.images]\nruby = "ruby:3"\n'
    )
    monkeypatch.setenv("CODERUNNER_DOCKER__READY", "3")
    docker = Settings().docker
    assert (docker.default_image_prefix, docker.pull_policy, docker.ready) == (
        "coderunner",
        "always",
        3,
    )
    assert docker.images == {"ruby": "ruby:3", "python": "python:3.11-slim", "cpp": "gcc:12"}
    found = origins()
    assert found["docker.ready"] == "environment CODERUNNER_DOCKER__READY"
    assert found["docker.pull_policy"] == f"{home}/coderunner.toml:2"
    assert found["docker.images.ruby"] == f"{home}/coderunner.toml:5"
    assert found["docker.images.cpp"] == f"{home}/coderunner_config.yaml:20"
    assert found["docker.runtime"] == "default"


def test_the_specified_keys_mean_what_they_say(home: Path) -> None:
    (home / "coderunner_config.yaml").write_text(SPECIFIED)
    settings = Settings()
    assert settings.judge.model_dump() == {
        "memory_limit_mb": 128,
        "cpu_limit": 2.0,
        "timeout_ms": 4000,
        "total_timeout_ms": 50_000,
        "keep_output_kb": 32,
        "processes": 16,
    }
    assert settings.docker.default_image_prefix == "coderunner"
    cpp = settings.languages().get("c++")
    assert cpp.compile == ("{cxx}", "-O2", "-std=c++17", "-o", "program", "{sources}")
    assert settings.languages().for_file("a.cc") is not None
    assert all(variant.compile is None for variant in cpp.variants)


def test_a_file_where_somebody_happens_to_be_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be one of a submission."""
    there = tmp_path / "submission"
    there.mkdir()
    (there / "coderunner.toml").write_text('engine = "process"\nmin_isolation = "none"\n')
    (there / "coderunner_config.yaml").write_text("nonsense: true")
    monkeypatch.chdir(there)
    assert Settings().engine == "auto"
    monkeypatch.setenv("CODERUNNER_CONFIG", "coderunner.toml")  # unless it is named
    assert Settings().engine == "process"


def test_a_named_file_is_read_in_place_of_the_users(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "coderunner.toml").write_text('engine = "docker"')
    named = tmp_path / "other.yml"
    named.write_text("limits: {memory_mb: 99}")
    monkeypatch.setenv("CODERUNNER_CONFIG", str(named))
    assert Settings().engine == "auto"
    assert Settings().judge.memory_limit_mb == 99
    named.unlink()
    with pytest.raises(InvalidSettings, match=r"^CODERUNNER_CONFIG=.*: cannot be read: No such"):
        Settings()


def test_paths_begin_where_the_file_lies(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "mine").mkdir()
    (home / "coderunner.toml").write_text('languages_dir = "mine"\ncache_dir = "~/kept"\n')
    monkeypatch.setenv("HOME", "/home/somebody")
    assert Settings().languages_dir == home / "mine"
    assert Settings().cache_dir == Path("/home/somebody/kept")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('# mine\nengin = "linux"', ":2: no setting is called engin", "did you mean engine?"),
        ('[docker]\nruntim = ""', ":2: no setting is called docker.runtim", "docker.runtime?"),
        ('runtime = "runsc"', ":1: no setting is called runtime", "did you mean docker.runtime?"),
        ("[dokcer]", ":1: no setting is called dokcer", "did you mean docker?"),
        ("[server.ceiling]\nwall = 3", ":2: no setting is called server.ceiling.wall", "wall_ms?"),
        ('[server]\n\n"port" = "x"', ":3: server.port: must be a whole number, not 'x'", ""),
        ("docker.ready = -1", ":1: docker.ready: must be at least 0, not -1", ""),
        ("docker = 3", ":1: docker: must be a table, not 3", ""),
        ("[ceiling]\nfiles = 0", ":2: ceiling.files: must be above zero", ""),
        ("warm = ", ": is not valid TOML: ", ""),
    ],
)
def test_a_mistake_in_toml_is_told_with_its_place(
    home: Path, text: str, message: str, hint: str
) -> None:
    path = home / "coderunner.toml"
    path.write_text(text)
    with pytest.raises(InvalidSettings) as caught:
        Settings()
    assert caught.value.message.startswith(f"{path}{message}")
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("\nlimit: {}", ":2: no setting is called limit", "did you mean limits?"),
        ("limits:\n  memory: 3", ":2: no setting is called limits.memory", "limits.memory_mb?"),
        ("limits:\n  memory_mb: x", ":2: limits.memory_mb: must be a whole number, not 'x'", ""),
        ("limits:\n  memory_mb: 1\n  memory_mb: 2", ":3: limits.memory_mb: is there twice", ""),
        ("limits: 5", ":1: limits: must be a table, not 5", ""),
        ("[limits]", ": must be a table", ""),
        ("limits: {", ": is not valid YAML: ", ""),
        ("languages: {python: {imag: x}}", ":1: no setting is called languages.python.imag",
         "did you mean languages.python.image?"),
        ("languages: {python: {image: 3}}", ":1: languages.python.image: must be text, not 3", ""),
        ("languages: {python: {extension: rb}}",
         ":1: languages.python.extension: must be py or py3, not 'rb'", "language file"),
        ("languages: {python: {compile: true}}",
         ":1: languages.python.compile: must be false, not True", "language file"),
        ("languages: {cpp: {compile_command: make}}",
         ":1: languages.cpp.compile_command: must be a list of words, not 'make'", ""),
        ("security: {read_only_root: false}",
         ":1: security.read_only_root: is always true, it cannot be False", "no way"),
    ],
)  # fmt: skip
def test_a_mistake_in_yaml_is_told_by_the_keys_of_that_file(
    home: Path, text: str, message: str, hint: str
) -> None:
    path = home / "coderunner_config.yaml"
    path.write_text(text)
    with pytest.raises(InvalidSettings) as caught:
        Settings()
    assert caught.value.message.startswith(f"{path}{message}")
    assert hint in caught.value.hint


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "docker:\nlimits:\nlanguages:\n  cpp:\n"])
def test_a_file_without_a_word_changes_nothing(home: Path, text: str) -> None:
    (home / "coderunner_config.yaml").write_text(text)
    assert origins().keys() == {each.key for each in effective()}
    assert Settings().docker.images == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('python = ["x"]', ":2: compile_commands.python: Python has no compiler"),
        ('cpp = ["{gxx}"]', ":2: compile_commands.cpp: unknown placeholder {gxx}"),
        ("cpp = []", ":2: compile_commands.cpp: must not be empty"),
        ('zig = ["zig"]', ":2: compile_commands.zig: no language is called 'zig'"),
    ],
)
def test_a_command_that_compiles_nothing(home: Path, text: str, message: str) -> None:
    path = home / "coderunner.toml"
    path.write_text(f"[compile_commands]\n{text}\n")
    with pytest.raises(InvalidSettings) as caught:
        Settings().languages()
    assert caught.value.message.startswith(f"{path}{message}")


def test_an_image_for_a_language_that_nobody_knows(home: Path) -> None:
    path = home / "coderunner.toml"
    path.write_text('[docker.images]\npyhton = "mine"\n')
    with pytest.raises(InvalidSettings) as caught:
        Settings().languages()
    assert caught.value.message.startswith(f"{path}:2: docker.images.pyhton: no language is called")
    assert "did you mean python" in caught.value.hint
