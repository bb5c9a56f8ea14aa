/* Tests how often a loop and the library wake up before a timer is due. */
#include "loop_tools.h"

#define HOUR (3600 * SECOND)

/* How often the descriptor is readable with nothing to run, until as many timers have fired. */
static int early_wakes(vow_loop *loop, int timers) {
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    int early = 0;
    while (timers > 0) {
        CHECK_INT_EQ(poll(&one, 1, (int)(LONG_ENOUGH / MILLISECOND)), 1);
        int fired = vow_loop_run_once(loop, 0);
        CHECK(fired >= 0);
        timers -= fired;
        early += fired == 0;
    }
    return early;
}

TEST("a loop with one timer wakes up once") {
    vow_loop *loop = vow_loop_create();
    vow_promise *delay = vow_delay(300 * MILLISECOND);
    CHECK_INT_EQ(early_wakes(loop, 1), 0);
    CHECK_INT_EQ(code_of(delay), 0);
    vow_loop_destroy(loop);
}

TEST("a loop with eight timers wakes up for each, and never early") {
    vow_loop *loop = vow_loop_create();
    vow_promise *delays[8];
    for (int i = 0; i < 8; i++) {
        delays[i] = vow_delay((8 - i) * 20 * MILLISECOND);
    }
    CHECK_INT_EQ(early_wakes(loop, 8), 0);
    for (int i = 0; i < 8; i++) {
        CHECK_INT_EQ(code_of(delays[i]), 0);
    }
    vow_loop_destroy(loop);
}

TEST("a loop with a late timer and many that were cancelled sleeps until it is due") {
    enum { count = 10000 };
    static vow_promise *delays[count];
    vow_loop *loop = vow_loop_create();
    vow_promise *late = vow_delay(400 * MILLISECOND);
    for (int i = 0; i < count; i++) {
        delays[i] = vow_delay(300 * MILLISECOND + i * 100);
    }
    for (int i = 0; i < count; i++) {
        CHECK(i % 2 == 0 || vow_cancel(delays[i]));
        vow_promise_release(delays[i]);
    }
    CHECK(early_wakes(loop, 1) <= 2);
    CHECK_INT_EQ(code_of(late), 0);
    vow_loop_destroy(loop);
}

TEST("a wait on a loop with many timers is not cut short by an early wake-up") {
    enum { count = 100 };
    vow_promise *delays[count];
    vow_loop *loop = vow_loop_create();
    for (int i = 0; i < count; i++) {
        delays[i] = vow_delay(HOUR + i);
    }
    int64_t start = now_ns();
    CHECK_INT_EQ(vow_loop_run_once(loop, 50 * MILLISECOND), 0);
    CHECK(now_ns() - start >= 50 * MILLISECOND);
    vow_promise *soon = vow_delay(50 * MILLISECOND);
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 1);
    CHECK(now_ns() - start >= 100 * MILLISECOND);
    CHECK_INT_EQ(code_of(soon), 0);
    for (int i = 0; i < count; i++) {
        vow_promise_release(delays[i]);
    }
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

TEST("hundreds of timers cost few early wake-ups") {
    enum { count = 400 };
    vow_promise *delays[count];
    vow_loop *loop = vow_loop_create();
    for (int i = 0; i < count; i++) {
        delays[i] = vow_delay(100 * MILLISECOND + i * 7919 % count * MILLISECOND / 2);
    }
    CHECK(early_wakes(loop, count) <= count / 4);
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(code_of(delays[i]), 0);
    }
    vow_loop_destroy(loop);
}

TEST("a virtual loop is readable exactly while a timer is due") {
    enum { count = 100 };
    vow_promise *delays[count];
    vow_loop *loop = vow_loop_create_virtual();
    for (int i = 0; i < count; i++) {
        delays[i] = vow_delay(SECOND + i);
    }
    CHECK(!is_readable(loop));
    for (int i = 0; i < count - 1; i++) {
        CHECK_INT_EQ(vow_loop_advance(loop, i == 0 ? SECOND - 1 : 1), i == 0 ? 0 : 1);
        CHECK(!is_readable(loop));
    }
    CHECK_INT_EQ(vow_loop_advance(loop, 1), 1);
    vow_promise_release(delays[count - 1]);
    CHECK(!is_readable(loop));
    vow_promise *now = vow_delay(0);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 1);
    CHECK_INT_EQ(code_of(now), 0);
    for (int i = 0; i < count - 1; i++) {
        CHECK_INT_EQ(code_of(delays[i]), 0);
    }
    vow_loop_destroy(loop);
}

TEST("at the end of time a virtual loop rests, and a timer that comes then makes it readable") {
    vow_loop *loop = vow_loop_create_virtual();
    CHECK_INT_EQ(vow_loop_advance(loop, INT64_MAX), 0);
    CHECK_INT_EQ(vow_now(), INT64_MAX);
    CHECK(!is_readable(loop));
    vow_promise *promise = vow_delay(0);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 1);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    CHECK(!is_readable(loop));
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}
