"""Why a file is not touched: one line that names the file and the fact, and one with the remedy."""


class Unsafe(ValueError):
    """A file cannot be edited without risking what it holds; nothing was written."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
