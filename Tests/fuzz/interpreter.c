/* One operation of the program after the other, also from inside callbacks. */
#include <stdlib.h>

#include "world.h"

static void value_op(unsigned which) {
    int slot = which == 0 ? -1 : some_value();
    if (which == 0) {
        put_value(take_value());
    } else if (slot >= 0 && which == 1) {
        release_value(slot);
    } else if (slot >= 0) {
        compare(w.values[slot], w.value_models[slot]);
        check_describe(w.values[slot]);
    }
}

static void set_default(void) {
    int number = any_executor();
    w.default_executor = number < 0 ? 0 : number;
    trace("default executor %d", w.default_executor);
    vow_executor_set_default(w.executors[w.default_executor].real);
}

/* The thread belongs to one executor, or to none. */
static void move_thread(void) {
    int number = any_executor();
    for (int i = 1; i < w.executor_count; i++) {
        w.executors[i].here = i == number;
    }
}

static void executor_op(unsigned which) {
    bool outside = w.depth == 0;
    if (which == 0) {
        make_executor();
    } else if (which == 1) {
        release_executor((int)next_below((unsigned)w.executor_count));
    } else if (which == 2) {
        set_default();
    } else if (which == 3 && outside) {
        move_thread();
    } else if (outside) {
        pump();
    }
}

static void new_op(unsigned op) {
    if (op < 32) {
        cancelling_op(op % 16);
    } else if (op < 52) {
        combining_op(op % 8);
    } else {
        travelling_op(op % 4);
    }
}

void run_op(void) {
    unsigned op = next_byte();
    if (op >= 192) {
        /* Asked for: see README, "Known difference". */
        if (getenv("FUZZ_NEW") != NULL) {
            new_op(op - 192);
        }
        return;
    }
    op %= 64;
    if (op < 6) {
        promise_op(0);
    } else if (op < 9) {
        promise_op(1);
    } else if (op < 17) {
        promise_op(op - 7 < 7 ? op - 7 : 6);
    } else if (op < 27) {
        resolver_op(op < 22 ? 0 : op - 22 < 3 ? op - 22 : 3);
    } else if (op < 49) {
        chaining_op((op - 27) % 8);
    } else if (op < 55) {
        value_op(op - 49 < 3 ? op - 49 : 0);
    } else if (op < 63) {
        executor_op(op - 55);
    } else {
        bad_op(next_below(8));
    }
}

void run_ops(unsigned count) {
    if (w.depth > MAX_DEPTH * 2) {
        return;
    }
    for (unsigned i = 0; i < count && w.left > 0 && !model_is_full(); i++) {
        run_op();
    }
}
