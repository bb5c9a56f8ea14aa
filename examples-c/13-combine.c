/* 13-combine.c: many promises as one: all, the first, some at a time, again, and not for ever. */
#include "common.h"

#define HOUR (3600 * VOW_SECOND)

/* A station in a town, which takes its time to answer. */
struct station {
    const char *town;
    int64_t ms, degrees;
};

static vow_value measured(vow_value input, void *context) {
    const struct station *station = context;
    (void)input;
    printf("  (%s answers)\n", station->town);
    return vow_int(station->degrees);
}

static vow_value broken(vow_value input, void *context) {
    const struct station *station = context;
    (void)input;
    return vow_error("station", 1, station->town);
}

static vow_promise *ask(const struct station *station) {
    bool works = station->degrees > -273;
    return vow_then(vow_delay(station->ms * VOW_MS), works ? measured : broken, (void *)station);
}

static const struct station rome = {"Rome", 30, 24}, oslo = {"Oslo", 10, 7},
                            cairo = {"Cairo", 20, 31},
                            atlantis = {"nobody answers in Atlantis", 15, -1000};

/* ---------------------------------------------------------------- Many as one */

static vow_value show_list(vow_value list, void *context) {
    printf("  %s:", (const char *)context);
    for (size_t i = 0; i < vow_list_count(list); i++) {
        printf(" %" PRId64, vow_list_at(list, i).as.integer);
    }
    printf("\n");
    return vow_none();
}

static vow_value show_failure(vow_value error, void *context) {
    (void)context;
    show("  failed", error);
    printf("  its place: %" PRId64 "\n", vow_error_index(error));
    return vow_none();
}

static vow_promise *all_of_them(void) {
    vow_promise *towns[] = {ask(&rome), ask(&oslo), ask(&cairo)};
    return vow_then(vow_all(towns, 3), show_list, "in the order of the question");
}

/* Rome is not wanted any more once Atlantis has failed: its delay is cancelled. */
static vow_promise *one_fails(void) {
    vow_promise *towns[] = {ask(&rome), ask(&oslo), ask(&atlantis)};
    return vow_catch(vow_all(towns, 3), show_failure, NULL);
}

static vow_promise *the_first(void) {
    vow_promise *towns[] = {ask(&rome), ask(&oslo), ask(&cairo)};
    return vow_race(towns, 3);
}

/* ---------------------------------------------------------------- Some at a time */

struct dish {
    int *cooking, *most; /* of all dishes together */
    int64_t number;
};

static vow_value serve(vow_value input, void *context) {
    const struct dish *dish = context;
    (void)input;
    --*dish->cooking;
    return vow_int(dish->number * dish->number);
}

static vow_value cook(vow_value item, void *context) {
    struct dish *dish = item.as.pointer;
    (void)context;
    ++*dish->cooking;
    *dish->most = *dish->cooking > *dish->most ? *dish->cooking : *dish->most;
    return vow_from_promise(vow_then(vow_delay(5 * VOW_MS), serve, dish));
}

/* ---------------------------------------------------------------- Again, and not for ever */

struct lift {
    int64_t works_at; /* the attempt that it works at */
};

static vow_value take_the_lift(vow_value attempt, void *context) {
    const struct lift *lift = context;
    if (attempt.as.integer < lift->works_at) {
        return vow_error("lift", 3, "stuck");
    }
    return vow_string("upstairs", VOW_NUL_TERMINATED);
}

static vow_promise *try_again(struct lift *lift) {
    vow_retry_policy policy = {.size = sizeof policy};
    policy.attempts = 4;
    policy.first_delay_ns = VOW_MS; /* then 2 and 4 */
    return vow_retry(&policy, take_the_lift, lift);
}

int main(void) {
    /* One thread: nothing here needs a lock. The clock moves on when nothing is left to do, so who
     * answers first does not depend on how busy the machine is. */
    vow_loop *loop = vow_loop_create_virtual();
    if (loop == NULL) {
        return 1;
    }
    printf("all:\n");
    show_result("  then", all_of_them());
    printf("all, and one fails:\n");
    show_result("  then", one_fails());
    printf("a race:\n");
    show_result("  the first", the_first());

    int cooking = 0, most = 0;
    struct dish dishes[8];
    vow_value items[8];
    for (int i = 0; i < 8; i++) {
        dishes[i] = (struct dish){&cooking, &most, i + 1};
        items[i] = vow_pointer(&dishes[i]);
    }
    printf("eight, three at a time:\n");
    vow_promise *squares = vow_map(vow_list(items, 8), cook, NULL, 3);
    show_result("  then", vow_then(squares, show_list, "squares"));
    printf("  at a time, at most: %d\n", most);

    struct lift slow = {.works_at = 3}, broken_for_good = {.works_at = INT64_MAX};
    printf("again:\n");
    show_result("  the third time", try_again(&slow));
    vow_value error = wait_for(try_again(&broken_for_good));
    show("  given up", error);
    printf("  after attempts: %" PRId64 "\n", vow_error_attempts(error));
    vow_value_release(error);

    printf("not for ever:\n");
    show_result("  an hour, at most 20 ms", vow_timeout(vow_delay(HOUR), 20 * VOW_MS));
    show_result("  a town, at most an hour", vow_timeout(ask(&oslo), HOUR));

    vow_loop_destroy(loop);
    return nothing_left();
}
