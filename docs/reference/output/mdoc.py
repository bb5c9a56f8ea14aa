"""The words of the mdoc language: text and macros, escaped."""

import re

WIDTH = 78
CLOSING = ".,:;)]?!"


def escape(text):
    text = text.replace("\\", "\\e").replace("-0", "\\-0")
    return re.sub(r"(?<![\w)])-(?=\d)", r"\\-", text)


def text_line(text):
    """A line of text that no reader takes for a macro."""
    return "\\&" + text if text[:1] in (".", "'") else text


def argument(text):
    """One argument of a macro."""
    text = escape(text)
    if re.fullmatch(r"[A-Z][a-z]|[%A-Z][a-z]?[a-z]?", text) or text in list(CLOSING + "(["):
        return "\\&" + text
    if re.search(r'[\s"]', text) or not text:
        return '"' + text.replace('"', "\\(dq") + '"'
    return text


def macro(name, *arguments):
    return " ".join(["." + name, *(argument(each) for each in arguments)])


def wrapped(text):
    """Text in lines of bearable length; a break is only where a space is."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > WIDTH:
            lines.append(text_line(escape(line)))
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines + ([text_line(escape(line))] if line else [])


def _words(spans, mark):
    """Words as lists of fragments: plain text, and (macro, arguments) for what is marked."""
    words, open_word = [], False
    for span in spans:
        if span.kind != "text":
            marked = mark(span)
            if not open_word:
                words.append([])
            words[-1].append(marked)
            open_word = True
            continue
        for part in re.findall(r"\s+|\S+", span.text):
            if part.isspace():
                open_word = False
            else:
                if not open_word:
                    words.append([])
                words[-1].append(part)
                open_word = True
    return words


def _marked_line(fragments):
    """One line for a word that has marked fragments in it."""
    parts, glued = [], False
    for index, fragment in enumerate(fragments):
        if isinstance(fragment, tuple):
            if glued:
                parts.append("Ns")
            parts += [fragment[0], *(argument(each) for each in fragment[1])]
        elif index == 0:
            parts += ["Pf", argument(fragment)]
            continue
        else:
            closing = re.fullmatch(rf"[{re.escape(CLOSING)}]+", fragment)
            last = index == len(fragments) - 1
            if closing and last:
                parts += list(fragment)
            else:
                parts += ["Ns", argument(fragment)]
        glued = True
    return "." + " ".join(parts)


def prose(spans, mark):
    """Lines for one sentence. `mark` turns a span into (macro, arguments)."""
    lines, plain = [], []
    for word in _words(spans, mark):
        if all(isinstance(each, str) for each in word):
            plain.append("".join(word))
        else:
            lines += wrapped(" ".join(plain))
            plain = []
            lines.append(_marked_line(word))
    return lines + wrapped(" ".join(plain))
