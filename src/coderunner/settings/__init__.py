"""Every setting, in one class: what it is called, what it may be, where it comes from.

settings.py                     the class; docker.py, judge.py, server.py are its sections
keys.py                         which keys there are, and the nearest to a mistyped one
layers.py                       the places they come from, the strongest first
environment.py                  CODERUNNER_ENGINE=process, CODERUNNER_DOCKER__RUNTIME=runsc
files.py  toml_file.py          which files are read; coderunner.toml
spec_file.py  spec_language.py  coderunner_config.yaml, whose keys have other names
words.py                        what is wrong with a value, in plain words
effective.py                    all of them, with where each comes from
"""

from coderunner.settings.docker import DockerSettings
from coderunner.settings.judge import JudgeSettings
from coderunner.settings.server import ServerSettings
from coderunner.settings.settings import CEILING, PRELOAD, Settings, user_cache_dir

__all__ = [
    "CEILING",
    "PRELOAD",
    "DockerSettings",
    "JudgeSettings",
    "ServerSettings",
    "Settings",
    "user_cache_dir",
]
