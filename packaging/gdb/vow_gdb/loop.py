"""A loop in words. Its layout is that of Sources/VowCore/Executors/Loop.swift."""

from . import executor, memory
from .memory import Unreadable


def describe(library, address):
    if library.is_checked:
        library.check_seal(address + 120, "a loop", library.LOOP)
    its_executor, descriptor, _, _, is_virtual = memory.unpack("QiiiB", address)
    clock = memory.word(address + 24)
    runner, _, is_closed, is_copy = memory.unpack("QQQQ", address + 40)
    # The executor leads back to its loop.
    if is_virtual > 1 or is_closed > 1 or is_copy > 1 or not its_executor:
        raise Unreadable("not a loop (freed, or something else)")
    if not is_closed and memory.word(its_executor + 72) != address:
        raise Unreadable("not a loop (freed, or something else)")
    text = "virtual loop" if is_virtual else "loop"
    if is_closed:
        return text + ", destroyed"
    if is_copy:
        return text + ", its parent's"
    text += ", descriptor %d" % descriptor
    text += ", a thread runs it" if runner else ", nobody runs it"
    waiting = executor.waiting(library, its_executor)
    if waiting:
        text += ", " + waiting
    # The levels of its wheel that have timers.
    if memory.word(clock):
        text += ", has timers"
    return text
