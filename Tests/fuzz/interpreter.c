/* One operation of the program after the other, also from inside callbacks. */
#include "table.h"
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

void run_op(void) {
    w.events++;
    step next = step_of(next_byte());
    switch (next.chapter) {
    case STEP_PROMISE:
        promise_op(next.which);
        break;
    case STEP_RESOLVER:
        resolver_op(next.which);
        break;
    case STEP_CHAIN:
        chaining_op(next.which);
        break;
    case STEP_VALUE:
        value_op(next.which);
        break;
    case STEP_EXECUTOR:
        executor_op(next.which);
        break;
    case STEP_WRONG:
        bad_op(next_below(8));
        break;
    case STEP_CANCEL:
        cancelling_op(next.which);
        break;
    case STEP_COMBINE:
        combining_op(next.which);
        break;
    case STEP_CONTEXT:
        travelling_op(next.which);
        break;
    default:
        break; /* without the model: see free/ */
    }
}

void run_ops(unsigned count) {
    if (w.depth > MAX_DEPTH * 2) {
        return;
    }
    for (unsigned i = 0; i < count && program.left > 0 && !model_is_full(); i++) {
        run_op();
    }
}
