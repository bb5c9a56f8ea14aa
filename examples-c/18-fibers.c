/* 18-fibers.c: three requests of which each needs the answer before it, as a function that reads
 * from top to bottom; then 10,000 such functions at once, on one thread.
 */
#include "common.h"

#define USERS 10000

/* ---------------------------------------------------------------- The server
 *
 * Answers with numbers. It is simulated on a virtual loop, so that no time passes. */

static vow_value reply(vow_value input, void *context) {
    int64_t answer = (intptr_t)context;
    (void)input;
    return answer < 0 ? vow_error("server", -answer, "no access") : vow_int(answer);
}

static vow_promise *answer_after(int64_t seconds, int64_t answer) {
    return vow_then(vow_delay(seconds * VOW_SECOND), reply, (void *)(intptr_t)answer);
}

/* Has no token for every tenth user. */
static vow_promise *log_in(int64_t user) {
    return answer_after(1, user % 10 == 9 ? -403 : user);
}

/* Hangs at every tenth. */
static vow_promise *fetch_list(int64_t token) {
    return answer_after(token % 10 == 4 ? 3600 : 2, token * 10);
}

static vow_promise *fetch_item(int64_t list) {
    return answer_after(1 + list % 3, list + 1);
}

/* ---------------------------------------------------------------- The client */

/* A fiber. Each vow_take suspends it, and the loop runs the others; when the time is up, the
 * request is cancelled. */
static vow_value shop(vow_value input, void *context) {
    vow_value token, list, item;
    (void)input;
    if (vow_take(log_in((intptr_t)context), 5 * VOW_SECOND, &token) != VOW_FULFILLED) {
        return vow_error_wrap("shop", 1, "no token", token);
    }
    if (vow_take(fetch_list(token.as.integer), 5 * VOW_SECOND, &list) != VOW_FULFILLED) {
        return vow_error_wrap("shop", 2, "no list", list);
    }
    if (vow_take(fetch_item(list.as.integer), 5 * VOW_SECOND, &item) != VOW_FULFILLED) {
        return vow_error_wrap("shop", 3, "no item", item);
    }
    return item;
}

static vow_promise *begin(int64_t user) {
    return vow_fiber(NULL, shop, (void *)(intptr_t)user, NULL);
}

int main(void) {
    vow_loop *loop = vow_loop_create_virtual();
    show_result("user 7", begin(7));
    show_result("user 4", begin(4));
    show_result("user 9", begin(9));

    int64_t began = vow_now();
    static vow_promise *shopping[USERS];
    for (int64_t user = 0; user < USERS; user++) {
        shopping[user] = begin(user);
    }
    int ended[4] = {0}; /* by the code of the error */
    for (int64_t user = 0; user < USERS; user++) {
        vow_value outcome = wait_for(shopping[user]);
        ended[outcome.kind == VOW_ERROR ? vow_error_code(outcome) : 0]++;
        vow_value_release(outcome);
    }
    printf("%d users: %d have an item, %d no token, %d no list\n", USERS, ended[0], ended[1],
           ended[2]);
    printf("seconds that took: %" PRId64 "\n", (vow_now() - began) / VOW_SECOND);

    vow_loop_destroy(loop);
    return nothing_left();
}
