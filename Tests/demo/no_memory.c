/* no_memory.c: a chain of the demo's for which, in turn, each single allocation of the library
 * fails: it settles, closes its sockets and leaves no promise. Run under valgrind, which sees that
 * it frees its contexts. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "demo/chain.h"
#include "demo/server.h"

#define SECOND INT64_C(1000000000)

static atomic_uint_fast64_t calls, failing; /* the call that fails; 0: none */

static void *allocate(void *context, size_t bytes) {
    (void)context;
    return atomic_fetch_add(&calls, 1) + 1 == atomic_load(&failing) ? NULL : malloc(bytes);
}

static void deallocate(void *context, void *pointer, size_t bytes) {
    (void)context, (void)bytes;
    free(pointer);
}

static void let_fail(uint64_t number) {
    atomic_store(&failing, 0);
    atomic_store(&calls, 0);
    atomic_store(&failing, number);
}

/* A chain whose last link could not be made goes on without it: it is given time to end. */
static bool all_gone(vow_loop *loop) {
    vow_statistics statistics = {.size = sizeof statistics};
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 60000; i++) {
        if (loop != NULL) {
            vow_loop_run_once(loop, 0);
        }
        if (vow_stats(&statistics) == 0 && statistics.live == 0 && http_sockets_open() == 0) {
            return true;
        }
        nanosleep(&moment, NULL);
    }
    return false;
}

static int check(const char *where, const struct chain_plan *plan) {
    int rejected = 0, wrong = 0;
    uint64_t number = 0, made;
    do {
        vow_value outcome;
        let_fail(++number);
        int state = chain_wait(plan, chain_run(plan), &outcome);
        made = atomic_load(&calls);
        let_fail(0);
        rejected += state == VOW_REJECTED;
        bool good = (state == VOW_FULFILLED && outcome.kind == VOW_STRING) ||
                    (state == VOW_REJECTED && vow_error_code(outcome) == VOW_ENOMEM);
        vow_value_release(outcome);
        if (!all_gone(plan->loop) || !good) {
            wrong++;
            printf("%s: allocation %" PRIu64 " of %" PRIu64 " fails: state %d\n", where, number,
                   made, state);
        }
    } while (made >= number && number < 10000);
    bool good = wrong == 0 && rejected > 15;
    printf("%s a chain without memory ends and leaves nothing %s (%d of %" PRIu64
           " runs rejected)\n",
           good ? "ok" : "not ok", where, rejected, number);
    return good ? 0 : 1;
}

int main(void) {
    const vow_allocator allocator = {sizeof allocator, allocate, deallocate, NULL};
    int error;
    if (vow_set_allocator(&allocator) != 0) {
        return 1;
    }
    struct server *server = server_start(FAULT_NONE, &error);
    if (server == NULL) {
        fprintf(stderr, "no server: %s\n", strerror(error));
        return 1;
    }
    struct chain_plan plan = {.port = server_port(server), .timeout_ns = 60 * SECOND};
    int failed = check("on the pool", &plan);

    plan.loop = vow_loop_create();
    failed |= check("on a loop", &plan);
    chain_wait(&plan, server_stop(server), NULL);
    vow_loop_destroy(plan.loop);
    return failed | (vow_shutdown(60 * SECOND) != 0);
}
