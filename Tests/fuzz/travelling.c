/* The context that travels along: set, and found again in handlers. */
#include "world.h"

/* In a callback that is no handler the library says what it is, since nobody promises that. */
static int found_here(void) {
    vow_value real = vow_context_get();
    if (real.kind == VOW_NONE) {
        return -1;
    }
    if (real.kind == VOW_OBJECT) {
        object *self = vow_object_pointer(real, NULL);
        return self->value;
    }
    EXPECT(real.kind == VOW_INT, "a context of kind %u", real.kind);
    return model_value_new(VOW_INT, real.as.integer);
}

static bool is_known(void) {
    frame top = top_frame();
    return top == FRAME_TOP || top == FRAME_HANDLER;
}

int carried_here(void) {
    return is_known() ? w.carried[w.depth] : found_here();
}

void check_carried(void) {
    vow_value real = vow_context_get();
    int expected = w.carried[w.depth];
    if (expected < 0) {
        EXPECT(real.kind == VOW_NONE, "a context that nobody has set");
    } else {
        compare(real, expected);
    }
}

void end_carried(void) {
    if (w.carried_is_set[w.depth]) {
        m.values[w.carried[w.depth]].holds--;
        w.carried_is_set[w.depth] = false;
    }
}

static void set(void) {
    unsigned what = next_below(4);
    pair value = {vow_none(), -1};
    if (what > 1) {
        value = make_value(what == 2 ? 0 : 11);
        hold(value);
    }
    end_carried();
    w.carried[w.depth] = value.model;
    w.carried_is_set[w.depth] = value.model >= 0;
    trace("context %d set", value.model);
    vow_context_set(value.real);
}

void travelling_op(unsigned which) {
    if (!is_known()) {
        return;
    }
    if (which < 3) {
        set();
    } else {
        check_carried();
    }
}
