"""JSON element by element, with the place of what is wrong, and as far as it goes when it was cut off."""

import json
import re

from .errors import Fault, InputError

SPACE = re.compile(r"[ \t\r\n]*")
HALF_NUMBERS = (".", "e", "e+", "e-")
WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
DIGITS = 40


class Cut(Exception):
    """The text ends before it is complete."""


def whole_number(text):
    """Of a million digits Python would make a number for minutes."""
    if len(text) > DIGITS:
        raise Fault(f"a number of {len(text):,} digits")
    return int(text)


DECODER = json.JSONDecoder(parse_int=whole_number)


def is_cut(error):
    """Whether JSON is wrong only because its text ends too early."""
    rest = error.doc[error.pos :].rstrip()
    if error.msg.startswith("Unterminated string") or rest in ("", ",", "{", "[", ":"):
        return True
    if rest.lower() in HALF_NUMBERS:
        return True
    return len(rest) < 10 and (error.msg.startswith("Invalid \\") or any(word.startswith(rest) for word in WORDS))


def decoded(text, begin=0):
    """(value, where it ends) of what begins there; Cut, or a Fault with `at`."""
    try:
        return DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        if is_cut(error):
            raise Cut from error
        fault = Fault(f"no JSON: {error.msg}")
        fault.at = error.pos
        raise fault from error
    except RecursionError as error:
        raise Fault("nested too deeply") from error


class Source:
    """A file that is being read. A fault ends it with a sentence; with `partial`, what is wrong is left out and counted.

    Afterwards: `skipped` says how much was left out and `first` where it began, `cut` where the file was cut off (None:
    it is complete).
    """

    what = "event"

    def __init__(self, name, partial=False):
        self.name = name
        self.partial = partial
        self.other = {}
        self.number = 0
        self.skipped = 0
        self.first = None
        self.cut = None

    def place(self):
        raise NotImplementedError

    def fault(self, fault, place=None):
        self.skipped += 1
        if self.first:
            return
        self.first = f"{place or self.place()}: {fault}"
        if not self.partial:
            raise InputError(f"{self.name}: {self.first}; --partial leaves out what is wrong")

    def notes(self):
        """What the file lacks, as sentences."""
        found = []
        if self.cut:
            found.append(f"It was cut off {self.cut}, and is read up to there.")
        if self.skipped:
            left = "1 part was" if self.skipped == 1 else f"{self.skipped:,} parts were"
            found.append(f"{left} wrong and left out; the first is {self.first}.")
        return found


class Document(Source):
    """A text that is one JSON object or list. Of the lists in `lists` each element counts, by its number."""

    def __init__(self, text, name, partial=False, lists=("traceEvents",)):
        super().__init__(name, partial)
        self.text = text
        self.lists = lists
        self.at = 0

    def place(self):
        begun = self.text[: self.at]
        found = f"line {begun.count(chr(10)) + 1} (byte {len(begun.encode('utf-8', 'surrogatepass'))})"
        return f"{found}, {self.what} {self.number}" if self.number else found

    def items(self):
        """(name, value) of each member, and of each element of the lists."""
        try:
            yield from self._whole()
        except Cut:
            self.at = len(self.text)
            self.cut = f"in {self.place()}"
        except Fault as fault:
            self.at = getattr(fault, "at", self.at)
            self.fault(fault)
            self.cut = f"in {self.place()}"

    def __iter__(self):
        """A trace's events."""
        for name, value in self.items():
            if name == "traceEvents" and self.number:
                yield value
            elif name == "otherData" and type(value) is dict:
                self.other = value

    def _skip(self):
        """To the next character that is not a space; it must be there."""
        self.at = SPACE.match(self.text, self.at).end()
        if self.at == len(self.text):
            raise Cut
        return self.text[self.at]

    def _expect(self, character):
        if self._skip() != character:
            raise Fault(f'no JSON: "{character}" is missing')
        self.at += 1

    def _value(self):
        self._skip()
        begin = self.at
        value, end = decoded(self.text, begin)
        # A number that the end of the text follows may have had more digits.
        if end == len(self.text) and type(value) in (int, float):
            raise Cut
        self.at = end
        return value

    def _whole(self):
        if self._skip() == "[":
            yield from self._list(self.lists[0])
        else:
            yield from self._members()
        self.at = SPACE.match(self.text, self.at).end()
        if self.at < len(self.text):
            raise Fault("something follows its end")

    def _members(self):
        self._expect("{")
        if self._skip() == "}":
            self.at += 1
            return
        while True:
            begin = self.at
            name = self._value()
            if type(name) is not str:
                self.at = begin
                raise Fault("no JSON: a member without a name")
            self._expect(":")
            if name in self.lists and self._skip() == "[":
                yield from self._list(name)
            else:
                yield name, self._value()
            if self._skip() == "}":
                self.at += 1
                return
            self._expect(",")
            self._skip()

    def _list(self, name):
        self._expect("[")
        self.what = {"traceEvents": "event"}.get(name, name[:-1])
        while self._skip() != "]":
            self.number += 1
            begin = self.at
            value = self._value()
            end, self.at = self.at, begin
            if type(value) is dict:
                yield name, value
            else:
                self.fault(Fault("no JSON object"))
            self.at = end
            if self._skip() != "]":
                self._expect(",")
        self.at += 1
        self.number = 0
