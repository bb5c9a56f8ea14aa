/* W8 without promises: the same pattern as two awaits, a word per wait, and the same policy. A
 * waiter looks 200 times, as vow_await does (Parking.looks before it says that it waits, and again
 * after), then says that it sleeps, then sleeps. */
#define _GNU_SOURCE
#include "raw.h"

#include "duel.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LOOKS
#define LOOKS 200
#endif

enum { awake, asleep, done };

/* Apart, as promises are. */
typedef struct word {
    _Alignas(64) _Atomic uint32_t state;
} word;

static word *words; /* the other thread's are the upper half */

void begin_futexes(size_t n) {
    words = aligned_alloc(64, 2 * n * sizeof *words);
}

void reset_futexes(size_t n) {
    memset(words, 0, 2 * n * sizeof *words);
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void await(word *each) {
    for (int look = LOOKS; look > 0; look--) {
        if (atomic_load_explicit(&each->state, memory_order_relaxed) != awake) {
            break;
        }
        relax();
    }
    uint32_t expected = awake;
    if (!atomic_compare_exchange_strong(&each->state, &expected, asleep)) {
        return;
    }
    while (atomic_load_explicit(&each->state, memory_order_acquire) == asleep) {
        syscall(SYS_futex, &each->state, FUTEX_WAIT_PRIVATE, asleep, NULL, NULL, 0);
    }
}

static void resolve(word *each) {
    if (atomic_exchange(&each->state, done) == asleep) {
        syscall(SYS_futex, &each->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static void ping(size_t n) {
    for (size_t i = 0; i < n; i++) {
        resolve(&words[i]);
        await(&words[n + i]);
    }
}

static void pong(size_t n) {
    for (size_t i = 0; i < n; i++) {
        await(&words[i]);
        resolve(&words[n + i]);
    }
}

void futex_round_trips(size_t n) {
    duel(ping, pong, n);
    peer_expect(words[n - 1].state == done && words[2 * n - 1].state == done, "W8");
}
