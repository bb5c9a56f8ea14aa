/* Fibers of Vow, inline, on a loop and on the pool; and handlers of the pool that wait. */
#include "workload.h"

#include <stdatomic.h>
#include <vow.h>

#define MOST 100000

static vow_executor *place;

static vow_promise *gates[MOST], *results[MOST];
static vow_resolver *keys[MOST], *last_is_here;
static _Atomic size_t absent; /* fibers that have not come to their wait */

static void finish(vow_promise *result) {
    EXPECT(vow_await(result, VOW_FOREVER, NULL) == (int)VOW_FULFILLED);
    vow_promise_release(result);
}

/* The last one first: on a loop, which takes them in turn, the first wait then runs all. */
static void finish_all(size_t n) {
    while (n > 0) {
        finish(results[--n]);
    }
}

static void settle(vow_resolver *resolver) {
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
}

static vow_value end_at_once(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(1);
}

static void spawn(size_t n) {
    for (size_t i = 0; i < n; i++) {
        results[i] = vow_fiber(place, end_at_once, NULL, NULL);
    }
    finish_all(n);
}

static vow_value wait_once(vow_value input, void *context) {
    if (atomic_fetch_sub(&absent, 1) == 1) {
        settle(last_is_here);
    }
    EXPECT(vow_take(context, VOW_FOREVER, NULL) == (int)VOW_FULFILLED);
    return input;
}

/* Returns when all n have come to their waits. */
static void begin_waits(size_t n) {
    vow_promise *all_are_here = vow_promise_create(&last_is_here);
    atomic_store(&absent, n);
    for (size_t i = 0; i < n; i++) {
        gates[i] = vow_promise_create(&keys[i]);
        results[i] = vow_fiber(place, wait_once, gates[i], NULL);
    }
    finish(all_are_here);
}

static void end_waits(size_t n) {
    for (size_t i = 0; i < n; i++) {
        settle(keys[i]);
    }
    finish_all(n);
}

static void await(size_t n) {
    begin_waits(n);
    end_waits(n);
}

static void hold(size_t n) {
    double before = status("VmRSS:");
    begin_waits(n);
    hold_items(n, before);
    end_waits(n);
}

/* Two players: each makes a promise for its next turn, gives the other one its turn, and waits. */
static vow_resolver *others_turn;
static size_t turns;

static vow_value play(vow_value input, void *context) {
    if (context != NULL) {
        EXPECT(vow_take(context, VOW_FOREVER, NULL) == (int)VOW_FULFILLED);
    }
    for (size_t i = context != NULL; i < turns; i++) {
        vow_resolver *now = others_turn;
        vow_promise *mine = vow_promise_create(&others_turn);
        settle(now);
        EXPECT(vow_take(mine, VOW_FOREVER, NULL) == (int)VOW_FULFILLED);
    }
    if (context != NULL) {
        settle(others_turn);
    }
    return input;
}

static void hand_over(size_t n) {
    turns = n / 2;
    vow_promise *first = vow_promise_create(&others_turn);
    vow_promise *one = vow_fiber(place, play, first, NULL);
    finish(vow_fiber(place, play, NULL, NULL));
    finish(one);
}

/* The same by handlers, whose waits block their threads. */
static void hand_over_handlers(size_t n) {
    turns = n / 2;
    vow_promise *first = vow_promise_create(&others_turn), *players[2];
    for (size_t i = 0; i < 2; i++) {
        vow_reaction reaction = {.size = sizeof reaction,
                                 .on_fulfilled = play,
                                 .context = i == 0 ? first : NULL,
                                 .executor = place};
        players[i] = vow_then_with(vow_promise_with(vow_int(1)), &reaction);
    }
    finish(players[0]);
    finish(players[1]);
}

static const workload workloads[] = {{"spawn", spawn},
                                     {"await", await},
                                     {"hand-over", hand_over},
                                     {"hold", hold},
                                     {"handlers-hand-over", hand_over_handlers},
                                     {NULL, NULL}};

/* The first argument is PLACE-WORKLOAD. */
int main(int argc, char **argv) {
    EXPECT(argc == 3 && strtoull(argv[2], NULL, 10) <= MOST);
    char *workload = strchr(argv[1], '-');
    EXPECT(workload != NULL);
    if (strncmp(argv[1], "inline", 6) == 0) {
        place = vow_executor_inline();
    } else if (strncmp(argv[1], "loop", 4) == 0) {
        place = vow_loop_executor(vow_loop_create());
    } else {
        place = vow_executor_pool();
    }
    argv[1] = workload + 1;
    return run_workload(argc, argv, workloads);
}
