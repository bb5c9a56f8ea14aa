/* The floor under every promise: memory, an atomic operation, a call. W2 and W4 are the least that
 * a chain and a list of handlers can be: a node each, called through a pointer, freed. */
#include "raw.h"

#include <stdatomic.h>

#define NODE 112 /* core.md's budget for a link */

typedef struct node {
    struct node *next;
    size_t (*handler)(size_t input);
    char rest[NODE - 2 * sizeof(void *)];
} node;

const char *peer_version(void) {
    return "-";
}

/* The compiler must not see what is behind a pointer, nor that memory is never used. */
static inline void *opaque(void *pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

static size_t add_one(size_t input) {
    return input + 1;
}

/* R1 */
static void malloc_free(size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(opaque(malloc(NODE)));
    }
}

/* R2 */
static void exchange(size_t n) {
    static _Atomic size_t word;
    for (size_t i = 0; i < n; i++) {
        atomic_exchange_explicit(&word, i, memory_order_acq_rel);
    }
    peer_expect(word == n - 1, "R2");
}

/* R3 */
static void call(size_t n) {
    size_t (*volatile handler)(size_t) = add_one;
    size_t value = 0;
    for (size_t i = 0; i < n; i++) {
        value = handler(value);
    }
    peer_expect(value == n, "R3");
}

/* W2, W4 */
static void nodes(size_t n) {
    node *first = NULL, **last = &first;
    for (size_t i = 0; i < n; i++) {
        node *each = opaque(malloc(sizeof *each));
        each->next = NULL;
        each->handler = add_one;
        *last = each;
        last = &each->next;
    }
    size_t value = 0;
    while (first != NULL) {
        node *next = first->next;
        value = first->handler(value);
        free(first);
        first = next;
    }
    peer_expect(value == n, "W2");
}

const peer_workload peer_workloads[] = {
    {.name = "R1", .pass = malloc_free},
    {.name = "R2", .pass = exchange},
    {.name = "R3", .pass = call},
    {.name = "R4", .begin = begin_hops, .pass = serial_calls},
    {.name = "W2", .pass = nodes},
    {.name = "W4", .pass = nodes},
    {.name = "W6a", .begin = begin_hops, .pass = serial_hops},
    {.name = "W6b", .begin = begin_hops, .pass = pool_hops},
    {.name = "W6c", .begin = begin_hops, .pass = serial_calls},
    {.name = "W8", .begin = begin_futexes, .prepare = reset_futexes, .pass = futex_round_trips},
    {.name = NULL},
};
