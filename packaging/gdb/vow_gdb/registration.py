"""A registered function in words. Its layout is that of Sources/VowCore/Records/Registrations.swift."""

from . import memory
from .memory import Unreadable

# HookStage
STAGES = ("may be called", "is running", "has run", "is never called")

# RegistrationKind.hook
HOOK = 1


def describe(library, address):
    if library.is_checked:
        library.check_seal(address + 88, "a registration", library.REGISTRATION)
    stage, holds = memory.unpack("QQ", address + 72)
    if stage >= len(STAGES) or holds == 0 or memory.unpack("B", address + 18)[0] != HOOK:
        raise Unreadable("not a registration (freed, or something else)")
    return STAGES[stage]
