/* 15-progress.c: how far a long operation is, told to somebody who does not want to hear of every
 * step. The time is virtual, so that it passes at once and in the same way always.
 */
#include "common.h"

#define FILES 20

/* ---------------------------------------------------------------- Who works
 *
 * A copy of twenty files, 30 ms each. */

struct copy {
    vow_resolver *resolver;
    int done;
};

static bool any_left(vow_value state, void *context) {
    const struct copy *copy = context;
    (void)state;
    return copy->done < FILES;
}

static vow_value copied(vow_value input, void *context) {
    struct copy *copy = context;
    char note[32];
    (void)input;
    copy->done++;
    snprintf(note, sizeof note, "file %d of %d", copy->done, FILES);
    vow_resolver_set_progress(copy->resolver, (double)copy->done / FILES, note);
    return vow_none();
}

static vow_value copy_next(vow_value state, void *context) {
    (void)state;
    return vow_from_promise(vow_then(vow_delay(30 * VOW_MS), copied, context));
}

static vow_promise *copy_all(struct copy *copy) {
    vow_promise *promise = vow_promise_create(&copy->resolver);
    vow_promise *end = vow_repeat(vow_none(), any_left, copy_next, copy);
    vow_resolve(copy->resolver, vow_from_promise(end));
    return promise;
}

/* ---------------------------------------------------------------- Who looks on */

static void say(double fraction, const char *note, void *context) {
    const int64_t *start = context;
    printf("  %3" PRId64 " ms: %3.0f %%%s%s\n", (vow_now() - *start) / VOW_MS, fraction * 100,
           note == NULL ? "" : ", ", note == NULL ? "" : note);
}

static vow_value wait_a_moment(vow_value item, void *context) {
    (void)context;
    return vow_from_promise(vow_delay(item.as.integer * 100 * VOW_MS));
}

int main(void) {
    vow_loop *loop = vow_loop_create_virtual();
    if (loop == NULL) {
        return 1;
    }
    int64_t start = vow_now();

    printf("twenty files, told every 200 ms:\n");
    struct copy copy = {NULL, 0};
    vow_promise *copying = copy_all(&copy);
    vow_on_progress(copying, 200 * VOW_MS, say, &start, NULL);
    show_result("  the end", copying);
    vow_resolver_release(copy.resolver);

    /* Combinators tell by themselves which share of their promises is done. */
    printf("four delays as one promise, every step told:\n");
    start = vow_now();
    vow_value items[] = {vow_int(1), vow_int(2), vow_int(3), vow_int(4)};
    vow_promise *all = vow_map(vow_list(items, 4), wait_a_moment, NULL, 0);
    vow_on_progress(all, 0, say, &start, NULL);
    show_result("  the end", all);

    vow_loop_destroy(loop);
    return nothing_left();
}
