/* Progress: said by whoever works, told to those who listen. */
#include "free.h"

#include <string.h>

static const char *const notes[] = {NULL, "a note", "another one"};

static void on_progress(double fraction, const char *note, void *context) {
    listener *self = context;
    const record *it = &f.records[self->record];
    int loop = loop_here();
    int64_t now = loop < 0 ? 0 : time_of(loop);
    trace("record %d is so far: %d%%", self->record, (int)(fraction * 100));
    EXPECT(self->destroyed == 0 && !self->running, "progress is told inside, or after the end");
    EXPECT(fraction >= 0 && fraction <= 1, "a fraction of %g", fraction);
    EXPECT(fraction == 1 || it->holds == 0 || vow_promise_state(it->real) == VOW_PENDING,
           "a part of a settled promise");
    if (it->told) {
        EXPECT(fraction == it->fraction, "%g is not the newest, %g", fraction, it->fraction);
        EXPECT(notes[it->note] == NULL ? note == NULL
                                       : note != NULL && strcmp(note, notes[it->note]) == 0,
               "not the newest note");
    } else {
        EXPECT(fraction >= self->told && note == NULL, "a share goes back to %g", fraction);
    }
    if (self->calls > 0 && loop >= 0 && loop == self->loop && fraction < 1) {
        EXPECT(now - self->last >= self->interval, "progress is told too often");
    }
    self->told = fraction;
    self->calls++;
    self->last = now;
    self->loop = loop;
    self->running = true;
    enter(IN_HANDLER, executor_number(vow_executor_current()));
    f.carried[f.depth] = carried_now();
    maybe_steps();
    leave();
    self->running = false;
}

static void on_end(void *context) {
    listener *self = context;
    EXPECT(self->destroyed++ == 0, "a listener is destroyed twice");
    EXPECT(!self->running, "a listener is destroyed inside its call");
    enter(IN_CALLBACK, -1);
    steps(next_below(8) == 7);
    leave();
}

static void listen(int number) {
    if (f.listener_count == LISTENERS) {
        return;
    }
    listener *self = &f.listeners[f.listener_count++];
    *self = (listener){.record = number, .interval = next_below(3) * HOUR, .loop = -1};
    /* The hour of a real clock would not pass. */
    self->interval = is_slow(loop_here()) ? 0 : self->interval;
    trace("listener on record %d, every %d hours", number, (int)(self->interval / HOUR));
    EXPECT(vow_on_progress(f.records[number].real, self->interval, on_progress, self, on_end) == 0,
           "nobody listens");
}

static void say(int number) {
    record *self = &f.records[number];
    bool own = self->origin == BY_ALL || self->origin == BY_ALL_SETTLED || self->origin == BY_MAP ||
               self->origin == BY_REDUCE;
    unsigned part = next_below(6);
    int note = (int)next_below(3);
    double given = part == 5 ? 7.5 : part / 4.0;
    if (own) {
        return; /* they tell by themselves */
    }
    hold_record(number);
    if (vow_promise_state(self->real) == VOW_PENDING) {
        self->told = true;
        self->fraction = part == 5 ? 1 : given;
        self->note = note;
    }
    trace("record %d says %d%%", number, (int)(given * 100));
    EXPECT(vow_promise_set_progress(self->real, given, notes[note]) == 0, "progress is refused");
    EXPECT(vow_promise_set_progress(self->real, 0.0 / 0.0, NULL) == VOW_EINVAL, "no number");
    let_go_record(number);
}

void progress_step(unsigned which) {
    int place = some_place();
    if (place < 0) {
        return;
    }
    /* Mostly where somebody listens. */
    int number = f.promises[place];
    for (int i = 0; i < f.listener_count && which == 2; i++) {
        number = f.records[f.listeners[i].record].holds > 0 ? f.listeners[i].record : number;
    }
    if (which == 0) {
        listen(number);
    } else {
        say(number);
    }
}
