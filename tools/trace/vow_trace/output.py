"""Writes files whole or not at all, and over nothing that stands there unless that is asked for."""

import os
import stat
import sys

from .errors import OutputError

AT_ONCE = 1 << 20


class Output:
    """Where results go. `force` is leave to overwrite; what is made of a file may be read by those who may read it."""

    def __init__(self, source, force=False):
        self.source = None if source == "-" else source
        self.force = force
        self.mode = 0o666
        try:
            about = os.stat(self.source) if self.source else None
            if about and stat.S_ISREG(about.st_mode):
                self.mode &= about.st_mode
        except OSError:
            pass

    def check(self, paths):
        """Says at once, before anything is read, what must not be written."""
        paths = [each for each in paths if each != "-"]
        for index, path in enumerate(paths):
            place = os.path.realpath(path)
            if place in map(os.path.realpath, paths[:index]):
                raise OutputError(f"{path}: two results cannot be one file")
            if self.source and place == os.path.realpath(self.source):
                raise OutputError(f"{path}: that is what is to be read")
            if not self.force and os.path.isfile(place):
                raise OutputError(already(path))

    def write(self, path, content):
        """One result: a file, or standard output for -."""
        if path == "-":
            sys.stdout.write(content)
            return
        place = os.path.realpath(path)
        try:
            if os.path.exists(place) and not os.path.isfile(place):
                with open(place, "wb") as device:
                    write_all(device, content)
            else:
                self._whole(path, place, content)
        except (OSError, ValueError) as error:
            raise OutputError(f"{path}: {getattr(error, 'strerror', None) or error}") from error

    def _whole(self, path, place, content):
        """Under another name first: whoever looks sees nothing, or all of it."""
        other = os.path.join(os.path.dirname(place), f".vow-trace.{os.getpid()}")
        number = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self.mode)
        try:
            with open(number, "wb") as file:
                write_all(file, content)
            if self.force:
                os.replace(other, place)
            else:
                publish(other, path, place)
        except BaseException:
            os.unlink(other)
            raise


def write_all(file, content):
    for begin in range(0, len(content), AT_ONCE):
        file.write(content[begin : begin + AT_ONCE].encode("utf-8", "replace"))


def publish(other, path, place):
    """Gives a file its name, which nobody may have taken meanwhile."""
    try:
        os.link(other, place)
    except FileExistsError:
        raise OutputError(already(path)) from None
    except OSError:  # a file system without links
        if os.path.lexists(place):
            raise OutputError(already(path)) from None
        os.rename(other, place)
    else:
        os.unlink(other)


def already(path):
    return f"{path}: it is there already; --force overwrites it"
