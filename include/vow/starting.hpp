/// Coroutines that begin each other: the stack does not grow with them.
///
/// A coroutine begins at once, inside the call that makes it. So do those that it calls, and
/// theirs: as deep as the recursion is, each with its frames on the stack. From a certain depth on
/// they are put into a queue of the thread instead, and begin when the first of them all has been
/// suspended, as handlers on the inline executor do; or before the thread blocks, since it may wait
/// for one.
#ifndef VOW_STARTING_HPP
#define VOW_STARTING_HPP

#include "value.hpp"

#include <cstdint>

namespace vow {
inline namespace v1 {
namespace detail {

/// A coroutine that is to begin; in its frame.
struct start {
    void (*begin)(start &) noexcept = nullptr; ///< the frame may be gone afterwards
    start *next = nullptr;
    value context{}; ///< of who called it, if it was deferred
};

/// Those of a thread.
struct starts {
    std::uintptr_t stack = 0; ///< where the first began; 0: none is beginning
    start *first = nullptr;
    start *last = nullptr;
};
VOW_SHARED_BY_OBJECTS thread_local starts beginning;

/// How much of the stack they may take. A difference that no stack has is one between two stacks: a
/// fiber of the program's own is no reason to defer.
inline constexpr std::uintptr_t deepest_start = 96 * 1024;
inline constexpr std::uintptr_t other_stack = 8 * 1024 * 1024;

/// Begins those that were deferred on this thread.
inline void begin_deferred() noexcept {
    starts &mine = beginning;
    while (start *const next = mine.first) {
        mine.first = next->next;
        if (mine.first == nullptr)
            mine.last = nullptr;
        const value before = value::borrow(vow_context_get());
        vow_context_set(next->context.release());
        next->begin(*next);
        vow_context_set(value(before).release());
    }
}

inline void begin_or_defer(start &coroutine) noexcept {
    starts &mine = beginning;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (mine.stack == 0) {
        mine.stack = here;
        coroutine.begin(coroutine);
        begin_deferred();
        mine.stack = 0;
        return;
    }
    const std::uintptr_t depth = mine.stack > here ? mine.stack - here : here - mine.stack;
    if (depth < deepest_start || depth > other_stack) {
        coroutine.begin(coroutine);
        return;
    }
    coroutine.context = value::borrow(vow_context_get());
    (mine.last != nullptr ? mine.last->next : mine.first) = &coroutine;
    mine.last = &coroutine;
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
