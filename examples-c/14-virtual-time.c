/* 14-virtual-time.c: a test of a program that waits for hours: they pass at once, and always in the
 * same way.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "common.h"

#define MINUTE (60 * VOW_SECOND)

/* ---------------------------------------------------------------- The program
 *
 * Ordinary code: vow_delay, vow_retry, vow_timeout. It does not know what clock it goes by. */

/* An account that three wrong passwords lock for an hour. */
struct account {
    int wrong;
    bool locked;
};

static vow_value unlock(vow_value input, void *context) {
    struct account *account = context;
    (void)input;
    account->wrong = 0;
    account->locked = false;
    return vow_none();
}

static void wrong_password(struct account *account) {
    account->wrong++;
    if (account->wrong == 3) {
        account->locked = true;
        vow_promise_release(vow_then(vow_delay(60 * MINUTE), unlock, account));
    }
}

/* A back-up whose server is away; it tries again after 1, 2, 4, 8 minutes and so on. */
static vow_value back_up(vow_value attempt, void *context) {
    const int64_t *start = context;
    printf("  attempt %" PRId64 " after %" PRId64 " minutes\n", attempt.as.integer,
           (vow_now() - *start) / MINUTE);
    return vow_error("backup", 1, "the server is away");
}

static vow_promise *keep_trying(int64_t *start) {
    vow_retry_policy policy = {.size = sizeof policy};
    policy.attempts = 7;
    policy.first_delay_ns = MINUTE;
    return vow_retry(&policy, back_up, start);
}

/* ---------------------------------------------------------------- The test */

static int64_t minutes_since(int64_t start) {
    return (vow_now() - start) / MINUTE;
}

/* Step by step: the test moves the clock. */
static void test_account(vow_loop *loop) {
    struct account account = {0, false};
    for (int i = 0; i < 3; i++) {
        wrong_password(&account);
    }
    printf("  at once: %s\n", account.locked ? "locked" : "open");
    vow_loop_advance(loop, 60 * MINUTE - 1);
    printf("  a nanosecond before the hour: %s\n", account.locked ? "locked" : "open");
    vow_loop_advance(loop, 1);
    printf("  after an hour: %s\n", account.locked ? "locked" : "open");
}

/* Waiting moves the clock, too: whenever nothing else is left to run, to the next timer. */
static void test_back_up(void) {
    int64_t start = vow_now();
    show_result("  given up", keep_trying(&start));
    printf("  minutes that took: %" PRId64 "\n", minutes_since(start));
}

static void test_time_out(void) {
    int64_t start = vow_now();
    show_result("  a day, at most 90 minutes",
                vow_timeout(vow_delay(24 * 60 * MINUTE), 90 * MINUTE));
    printf("  minutes that took: %" PRId64 "\n", minutes_since(start));
}

static int64_t real_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * VOW_SECOND + time.tv_nsec;
}

int main(void) {
    vow_loop *loop = vow_loop_create_virtual();
    if (loop == NULL) {
        return 1;
    }
    int64_t start = vow_now(), really = real_time();
    printf("an account that is locked for an hour:\n");
    test_account(loop);
    printf("a back-up that is tried seven times:\n");
    test_back_up();
    printf("a time-out:\n");
    test_time_out();

    printf("by the virtual clock: %" PRId64 " minutes\n", minutes_since(start));
    printf("by the real one: %s\n", real_time() - really < MINUTE ? "no minute" : "too long");
    vow_loop_destroy(loop);
    return nothing_left();
}
