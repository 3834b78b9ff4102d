from coderunner.settings.server import ServerSettings

__all__ = ["ServerSettings"]
