"""A failure that the user is told about: a code and its arguments; the sentences are FuseLens's."""


class VerifyFailure(Exception):
    def __init__(self, code, **args):
        super().__init__(code)
        self.code = code
        self.args_ = {name: str(value) for name, value in args.items()}


def words(error):
    """One line about an exception, short enough for a sentence."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return text if len(text) <= 300 else f"{text[:299]}…"
