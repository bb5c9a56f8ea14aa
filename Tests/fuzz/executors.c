/* The program's executors: queues that the program pumps, and one that runs inside submit. */
#include "world.h"

#include <string.h>

static void submit(void *context, void (*run)(void *work), void *work) {
    executor *self = context;
    EXPECT(self->destroyed == 0, "work for a destroyed executor");
    push_frame(FRAME_CALLBACK, -1);
    w.submits++;
    if (self->kind == EXECUTOR_NOW) {
        run(work);
    } else {
        EXPECT(self->queued < QUEUE, "too much work for one executor");
        self->queue[self->queued].run = run;
        self->queue[self->queued].work = work;
        self->queued++;
    }
    run_ops(next_below(16) == 15);
    w.submits--;
    pop_frame();
}

static bool here(void *context) {
    return ((executor *)context)->here;
}

static void destroy(void *context) {
    executor *self = context;
    int number = (int)(self - w.executors);
    end_consumed();
    trace("executor %d destroyed", number);
    EXPECT(self->destroyed == 0, "an executor destroyed twice");
    EXPECT(!self->held, "an executor destroyed that the program holds");
    EXPECT(self->queued == 0, "an executor destroyed with work");
    EXPECT(w.default_executor != number, "the default executor destroyed");
    for (int i = 0; i < m.promise_count; i++) {
        model_wait wait = m.promises[i].wait;
        bool waits = wait == WAITS_UPSTREAM || wait == WAITS_EXECUTOR || wait == WAITS_CONTEXT;
        EXPECT(!waits || m.promises[i].executor != number, "an executor destroyed that is needed");
    }
    self->destroyed++;
    push_frame(FRAME_CALLBACK, -1);
    run_ops(next_below(8) == 7);
    pop_frame();
}

static const vow_executor_class classes[2] = {
    {sizeof(vow_executor_class), submit, here, destroy, 0},
    {sizeof(vow_executor_class), submit, here, destroy, VOW_SERIAL}};

void make_executor(void) {
    static const executor_kind kinds[] = {EXECUTOR_SERIAL, EXECUTOR_SERIAL, EXECUTOR_LOOSE,
                                          EXECUTOR_NOW, EXECUTOR_NOW};
    if (w.executor_count == EXECUTORS) {
        return;
    }
    int number = w.executor_count++;
    unsigned which = next_below(5);
    executor *self = &w.executors[number];
    self->kind = kinds[which];
    self->flags = which == 4 || self->kind == EXECUTOR_SERIAL ? VOW_SERIAL : 0;
    self->held = true;
    trace("executor %d of kind %d, flags %u", number, self->kind, self->flags);
    self->real = vow_executor_custom(&classes[self->flags == VOW_SERIAL], self);
    EXPECT(self->real != NULL, "no executor");
}

void release_executor(int number) {
    executor *self = &w.executors[number];
    if (number > 0 && self->held) {
        trace("release executor %d", number);
        self->held = false;
        vow_executor_release(self->real);
    }
}

/* One that can be named: -1 says "none given". */
int any_executor(void) {
    unsigned number = next_below((unsigned)w.executor_count + 2);
    if (number >= (unsigned)w.executor_count || (number > 0 && !w.executors[number].held)) {
        return number % 2 ? 0 : -1;
    }
    return (int)number;
}

vow_executor *executor_handle(int number) {
    return number < 0 ? NULL : w.executors[number].real;
}

static void run_one(executor *self, int index) {
    void (*run)(void *work) = self->queue[index].run;
    void *work = self->queue[index].work;
    self->queued--;
    memmove(&self->queue[index], &self->queue[index + 1],
            (size_t)(self->queued - index) * sizeof self->queue[0]);
    push_frame(FRAME_RUN, (int)(self - w.executors));
    run(work);
    pop_frame();
}

void pump(void) {
    int number = (int)next_below((unsigned)w.executor_count);
    executor *self = &w.executors[number];
    unsigned count = 1 + next_below(4);
    for (unsigned i = 0; i < count && self->queued > 0; i++) {
        int index = self->kind == EXECUTOR_LOOSE ? (int)next_below((unsigned)self->queued) : 0;
        trace("pump executor %d, work %d", number, index);
        run_one(self, index);
    }
}

void pump_all(void) {
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < w.executor_count; i++) {
            while (w.executors[i].queued > 0) {
                again = true;
                run_one(&w.executors[i], 0);
            }
        }
    }
    for (int i = 0; i < m.promise_count; i++) {
        EXPECT(m.promises[i].wait != WAITS_EXECUTOR, "the handler of promise %d was lost", i);
    }
}

/* "Inside a handler that handler's, elsewhere the default", unless the thread belongs to one. */
int current_executor(void) {
    for (int i = w.depth; i > 0; i--) {
        if (w.frames[i] == FRAME_HANDLER) {
            return w.frame_executors[i];
        }
    }
    for (int i = 1; i < w.executor_count; i++) {
        if (w.executors[i].here && w.executors[i].destroyed == 0) {
            return i;
        }
    }
    return w.default_executor;
}

void check_current(void) {
    vow_executor *expected = w.executors[current_executor()].real;
    EXPECT(vow_executor_current() == expected, "another executor is current");
}
