"""What the tool refuses, with a sentence for its user."""


class InputError(Exception):
    """The file cannot be used; the message says why, and where in the file."""


class OutputError(Exception):
    """A file cannot be written; the message says which and why."""


class Fault(Exception):
    """One line, event or field is wrong; the message says what. Who reads adds where it stands."""

    def __init__(self, why, field=None):
        super().__init__(f'field "{field}": {why}' if field else why)
