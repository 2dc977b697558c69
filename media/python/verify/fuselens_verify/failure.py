"""A failure that the user is told about: a code and its arguments; the sentences are FuseLens's."""


class VerifyFailure(Exception):
    def __init__(self, code, **args):
        super().__init__(code)
        self.code = code
        self.args_ = {name: str(value) for name, value in args.items()}


def words(error):
    """One line about an exception, short enough for a sentence."""
    name, said = type(error).__name__, " ".join(str(error).split())
    text = f"{name}: {said}" if said else name
    return text if len(text) <= 300 else f"{text[:299]}…"
