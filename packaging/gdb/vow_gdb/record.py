"""The memory of a promise, read field by field.

The layout is that of Record.swift, State.swift and Produced.swift in Sources/VowCore.
"""

from . import memory
from .memory import Unreadable

OPEN, RUNNING, CLAIMED, FOLLOWING, CANCELLED, SETTLING, DELIVERING, SETTLED = range(8)

# Shape
LINK, EXTRAS, ON_FULFILLED, ON_REJECTED, FINALLY, BIT_32, IMMORTAL, BIT_128 = (
    1 << bit for bit in range(8)
)
# RecordFlag
FOLLOWS, IS_CANCELLED, DROPPED, IS_INLINE = 2, 4, 8, 64
IN_UPSTREAM, IN_NEXT = 1, 2  # where a cancelled one has the error that it reads
# Progress
OUTCOME_IS_HELD = 8

# TraceKind, in its order
KINDS = (
    "promise value then catch finally reaction async subscription delay descriptor timeout retry"
    " all all_settled any some race map reduce repeat scope using shield"
    " in-use releasing member thread"
).split()
MEMBER, THREAD = KINDS.index("member"), KINDS.index("thread")

# More handles of one promise than any program has: what has more is no promise.
MOST_HANDLES = 1 << 27
MOST_MEMBERS = 100000


class Record:
    """A promise, a combinator's eye, or a waiting thread, as it is now."""

    def __init__(self, library, address):
        self.library = library
        self.address = address
        if address % 16:
            raise Unreadable("not a promise: its address is not a multiple of 16")
        (
            self.word,
            counts,
            self.shape,
            self.passage,
            self.observed,
            self.flags,
            self.error_place,
            self.slot,
            self.upstream,
        ) = memory.unpack("QQBBBBIQQ", address)
        # Records/Record.swift: readers, producers, and who passes by.
        self.promises = counts & (1 << 28) - 1
        self.producers = counts >> 28 & (1 << 22) - 1
        self.phase = self.word & 7
        if library.is_checked:
            library.check_seal(address + 40, "a promise", library.PROMISE)

    def check_is_promise(self):
        """Refuses what cannot be a live promise, as far as that can be told."""
        if self.observed > 1 or self.is_waiter or self.is_eye:
            raise Unreadable("not a promise (freed, or something else)")
        if self.promises == 0 and self.producers == 0:
            raise Unreadable("freed")
        if max(self.promises, self.producers) > MOST_HANDLES:
            raise Unreadable("not a promise (freed, or something else)")
        if self.has_value and (self.kind_of_value > 9 or self.slot >> 32):
            raise Unreadable("not a promise (freed, or something else)")
        # Its resolvers or its executor would keep it.
        if self.phase in (OPEN, RUNNING, CANCELLED) and self.producers == 0:
            raise Unreadable("freed")
        return self

    @property
    def is_link(self):
        return bool(self.shape & LINK)

    @property
    def is_waiter(self):
        return self.shape & (LINK | BIT_32 | BIT_128) == BIT_32

    @property
    def is_eye(self):
        return self.shape & (LINK | BIT_32 | BIT_128) == BIT_32 | BIT_128

    @property
    def is_produced(self):
        return self.shape & (LINK | BIT_32 | BIT_128) == BIT_128

    @property
    def is_subscription(self):
        return bool(self.shape & LINK and self.shape & BIT_128)

    @property
    def is_inline(self):
        return bool(self.flags & IS_INLINE)

    @property
    def has_value(self):
        return self.phase >= SETTLING

    @property
    def kind_of_value(self):
        return self.slot & 0xFFFFFFFF

    @property
    def value_bits(self):
        return self.upstream

    @property
    def is_handed_over(self):
        """A reaction that stands in no promise's queue any more: its executor has it."""
        if self.phase == CANCELLED and self.error_place == IN_NEXT:
            return self.is_link
        return self.is_link and self.phase in (OPEN, CANCELLED) and self.slot == 1

    @property
    def is_cancelled(self):
        """It was cancelled while it was pending, and is not fulfilled any more."""
        return bool(self.flags & IS_CANCELLED)

    @property
    def is_withdrawn(self):
        """Cancelled, and no handler runs for it: its executor will drop it."""
        return self.is_link and self.phase == CANCELLED and bool(self.flags & DROPPED)

    @property
    def reads(self):
        """The promise that it waits for; 0: none."""
        if self.phase == FOLLOWING:
            return self.upstream
        if self.phase == CANCELLED and self.error_place == IN_UPSTREAM:
            # The error stands there.
            return 0
        return self.upstream if self.is_link and self.phase in (OPEN, CANCELLED) else 0

    def kind(self):
        if self.is_produced:
            number = memory.unpack("B", self.address + self.library.record_size + 23)[0]
            return KINDS[number] if number < MEMBER else "promise"
        if not self.is_link:
            return "promise"
        if self.is_subscription:
            return "subscription"
        if self.phase == OPEN and not self.upstream:
            return "async"
        both = self.shape & (ON_FULFILLED | ON_REJECTED)
        if self.shape & FINALLY:
            return "finally" if both else "shield"
        if both == ON_FULFILLED | ON_REJECTED:
            return "reaction"
        return "catch" if both == ON_REJECTED else "then"

    def _part(self, offset):
        return memory.word(self.address + self.library.record_size + offset)

    def handler(self):
        """The program's function; 0: none, or not the program's any more."""
        if not self.is_link or self.is_subscription:
            return 0
        # Its place is lent: to the promise that it has read, or to the outcome that it passes on.
        if self.flags & DROPPED or self.passage & OUTCOME_IS_HELD:
            return 0
        only_rejections = self.shape & ON_REJECTED and not self.shape & ON_FULFILLED
        if only_rejections and self.shape & EXTRAS:
            return self._part(32)
        return self._part(8)

    def executor(self):
        """Of a reaction: its executor; 0: inline."""
        return 0 if self.is_inline or not self.is_link else self._part(24)

    def label(self):
        """The label that the reaction was made with; None: none."""
        if not (self.shape & EXTRAS and self.is_link):
            return None
        address = self._part(48)
        return memory.string(address) if address else None

    @property
    def next_member(self):
        """Of a member of a queue: who stands behind it. Marked, the word has half of the way back as well."""
        return self.slot & 0x0000_FFFF_FFFF_FFF0 if self.slot & 2 else self.slot

    def members(self):
        """What stands in its queue, oldest first."""
        if self.phase in (SETTLED, SETTLING):
            return []
        found, seen = [], set()
        address = self.word & ~15
        while address and address not in seen and len(found) < MOST_MEMBERS:
            seen.add(address)
            member = Record(self.library, address)
            found.append(member)
            address = member.next_member
        return found[::-1]
