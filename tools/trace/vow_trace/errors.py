"""What the tool refuses, with a sentence for its user."""


class InputError(Exception):
    """The file cannot be used; the message says why."""
