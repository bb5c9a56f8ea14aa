/* Loops: mostly those with a clock that stands still. */
#define _POSIX_C_SOURCE 200809L /* poll */
#include "free.h"

#include <poll.h>

/* There is one at a time, so that a timer's clock is known; a loop that was destroyed may still be
 * ending below. */
int loop_here(void) {
    for (int i = 0; i < f.loop_count; i++) {
        if (f.loops[i].real != NULL) {
            return i;
        }
    }
    return -1;
}

/* Time never goes back. That of a loop that is gone stands still. */
int64_t time_of(int number) {
    clocked *self = &f.loops[number];
    if (self->real != NULL) {
        int64_t now = vow_now();
        EXPECT(now >= self->seen, "the time goes back");
        self->seen = now;
    }
    return self->seen;
}

bool is_slow(int number) {
    return number < 0 || !f.loops[number].is_virtual;
}

static void create(void) {
    if (f.loop_count == LOOPS || loop_here() >= 0) {
        return;
    }
    clocked *self = &f.loops[f.loop_count];
    self->is_virtual = next_below(8) != 7;
    self->real = self->is_virtual ? vow_loop_create_virtual() : vow_loop_create();
    EXPECT(self->real != NULL, "no loop");
    self->executor = vow_executor_retain(vow_loop_executor(self->real));
    self->seen = vow_now();
    trace("loop %d", f.loop_count);
    f.loop_count++;
}

void end_loop(int number) {
    clocked *self = &f.loops[number];
    vow_loop *real = self->real;
    trace("loop %d is destroyed", number);
    time_of(number);
    self->real = NULL;
    f.can[-VOW_ESHUTDOWN] = true;
    enter(IN_AWAIT, -1);
    vow_loop_destroy(real);
    leave();
    for (int i = 0; i < f.record_count; i++) {
        const record *it = &f.records[i];
        EXPECT(it->holds == 0 || it->origin != BY_DELAY || it->loop != number ||
                   vow_promise_state(it->real) != VOW_PENDING,
               "record %d: a delay of a destroyed loop", i);
    }
}

static void check_answer(int number, int answer) {
    bool gone = f.loops[number].real == NULL;
    EXPECT(gone ? answer == VOW_ESHUTDOWN || answer >= 0 : answer >= 0 || answer == VOW_EDEADLOCK,
           "loop %d answers %d", number, answer);
}

static bool is_readable(int number) {
    struct pollfd descriptor = {.fd = vow_loop_fd(f.loops[number].real), .events = POLLIN};
    return poll(&descriptor, 1, 0) != 0;
}

/* The descriptor is readable exactly while something waits to be run. */
static void run_once(int number) {
    bool outside = f.depth == 0;
    bool ready = outside && is_readable(number);
    enter(IN_LOOP, 10 + number);
    int ran = vow_loop_run_once(f.loops[number].real, 0);
    leave();
    check_answer(number, ran);
    trace("loop %d ran %d", number, ran);
    EXPECT(!outside || ready || ran == 0, "loop %d ran %d though nothing was ready", number, ran);
    if (outside && ran == 0 && f.loops[number].real != NULL) {
        EXPECT(!is_readable(number), "loop %d is readable though nothing waits", number);
    }
}

/* The end of the clock is not reached: there, progress that has to wait for its time would go on
 * for ever. */
static void advance(int number) {
    int64_t hours = next_below(8), target = time_of(number) + hours * HOUR;
    if (is_slow(number)) {
        EXPECT(vow_loop_advance(f.loops[number].real, 0) == VOW_EINVAL, "a real clock is moved");
        return;
    }
    enter(IN_LOOP, 10 + number);
    trace("loop %d goes on by %d hours", number, (int)hours);
    int ran = vow_loop_advance(f.loops[number].real, hours * HOUR);
    leave();
    check_answer(number, ran);
    if (f.loops[number].real == NULL || ran < 0) {
        return;
    }
    EXPECT(time_of(number) >= target, "the clock has not come so far");
    for (int i = 0; i < f.record_count; i++) {
        const record *self = &f.records[i];
        bool due = self->origin == BY_DELAY && self->loop == number && self->deadline <= target;
        EXPECT(!due || self->holds == 0 || vow_promise_state(self->real) != VOW_PENDING,
               "record %d: a delay has not come", i);
    }
}

/* Only for a delay: that will come. A fiber would be suspended. */
static void run_until(int number) {
    int place = some_place();
    if (place < 0 || f.fibers > 0) {
        return;
    }
    int wanted = f.promises[place];
    const record *self = &f.records[wanted];
    bool comes = self->origin == BY_DELAY && self->loop == number && !is_slow(number);
    if (!comes && vow_promise_state(self->real) == VOW_PENDING) {
        return;
    }
    vow_loop *real = f.loops[number].real;
    hold_record(wanted);
    enter(IN_LOOP, 10 + number);
    trace("loop %d runs until record %d", number, wanted);
    int answer = vow_loop_run_until(real, self->real, VOW_FOREVER);
    leave();
    EXPECT(answer == VOW_FULFILLED || answer == VOW_REJECTED ||
               (answer == VOW_EDEADLOCK && f.depth > 0) || f.loops[number].real == NULL,
           "run_until: %d", answer);
    let_go_record(wanted);
}

void loop_step(unsigned which) {
    int number = loop_here();
    if (number < 0) {
        create();
    } else if (which < 3) {
        run_once(number);
    } else if (which == 3 || which == 4) {
        advance(number);
    } else if (which == 5) {
        run_until(number);
    } else if (next_below(2)) {
        vow_loop_wake(f.loops[number].real);
    } else {
        end_loop(number);
    }
}
