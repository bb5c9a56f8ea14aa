/* Delays, time-outs and descriptors. */
#define _POSIX_C_SOURCE 200809L
#include "free.h"

#include <unistd.h>

/* Without a loop the process's clock counts, of which no hour passes: what waits for it is
 * cancelled in the end. */
static void delay(void) {
    int loop = loop_here();
    int64_t hours = next_below(6) + is_slow(loop);
    int64_t now = loop < 0 ? 0 : time_of(loop);
    int number = new_record(vow_delay(hours * HOUR), BY_DELAY);
    record *self = &f.records[number];
    self->loop = loop;
    self->deadline = now + hours * HOUR;
    if (is_slow(loop)) {
        hold_record(number);
        self->cancelled_last = true;
    }
    f.can[-VOW_ECANCELLED] = true;
    put(number);
}

static void time_out(void) {
    int member = -1, loop = loop_here();
    unsigned form = next_byte();
    vow_promise *promise = take(&member);
    if (promise == NULL) {
        return;
    }
    int64_t hours = form % 6 + is_slow(loop);
    int64_t now = loop < 0 ? 0 : time_of(loop);
    if (form >= 250 || vow_promise_state(promise) != VOW_PENDING) {
        /* The promise itself: there is nothing to limit. */
        vow_promise *same_one = vow_timeout(promise, form >= 250 ? VOW_FOREVER : hours * HOUR);
        EXPECT(same_one == promise, "another promise");
        f.records[member].real = same_one;
        f.records[member].holds++;
        put(member);
        return;
    }
    int number = f.record_count++;
    record *self = &f.records[number];
    *self = (record){.origin = BY_TIMEOUT, .loop = loop, .machine = -1, .count = 1};
    self->members[0] = member;
    self->deadline = now + hours * HOUR;
    self->kept = form & 16;
    if (self->kept) {
        vow_promise_retain(promise);
        f.records[member].holds++;
    }
    wait_for(number, member);
    f.can[-VOW_ETIMEDOUT] = f.can[-VOW_ECANCELLED] = true;
    trace("time-out of record %d -> %d, %d hours", member, number, (int)hours);
    self->real = vow_timeout(promise, hours * HOUR);
    EXPECT(self->real != NULL && self->real != promise, "no promise of its own");
    self->holds = 1;
    put(number);
}

static void watch_descriptor(void) {
    int loop = loop_here();
    if (loop < 0) {
        return; /* libdispatch would watch it, on a thread of its own */
    }
    uint32_t events = 1 + next_below(3);
    int number = new_record(vow_fd_ready(f.descriptors[0], events), BY_DESCRIPTOR);
    f.records[number].events = events;
    f.can[-VOW_ECANCELLED] = true;
    put(number);
}

static void write_or_read(void) {
    char bytes[64] = {0};
    if (next_below(2)) {
        EXPECT(write(f.descriptors[1], bytes, 1) == 1, "nothing is written");
    } else {
        while (read(f.descriptors[0], bytes, sizeof bytes) > 0) {
        }
    }
}

static void refused(void) {
    vow_promise *made[] = {vow_delay(-1), vow_fd_ready(-1, VOW_READ),
                           vow_fd_ready(f.descriptors[0], 8), vow_timeout(f.none, HOUR),
                           vow_timeout(vow_promise_with(vow_none()), -2)};
    for (unsigned i = 0; i < sizeof made / sizeof made[0]; i++) {
        vow_value out = vow_none();
        EXPECT(vow_promise_peek(made[i], &out) && is_own(out, VOW_EINVAL), "call %u is not refused",
               i);
        vow_promise_release(made[i]);
    }
    EXPECT(vow_loop_advance(f.no_loop, 1) == VOW_EINVAL, "no loop is moved");
}

void time_step(unsigned which) {
    if (which < 2) {
        delay();
    } else if (which < 4) {
        time_out();
    } else if (which == 4) {
        watch_descriptor();
    } else if (which == 5) {
        write_or_read();
    } else {
        refused();
    }
}
