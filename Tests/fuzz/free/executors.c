/* The program's executors, and where handlers may run. Number 0 is the inline one, then come
 * queues, from 10 on loops.
 */
#include "free.h"

#include <string.h>

static void submit(void *context, void (*run)(void *work), void *work) {
    queue *self = context;
    EXPECT(self->destroyed == 0, "work for a destroyed executor");
    EXPECT(self->count < TASKS, "too much work for one executor");
    self->tasks[self->count].run = run;
    self->tasks[self->count].work = work;
    self->count++;
}

static void destroy(void *context) {
    queue *self = context;
    EXPECT(self->destroyed++ == 0, "an executor destroyed twice");
    EXPECT(self->count == 0, "an executor destroyed with work");
}

static const vow_executor_class serial = {sizeof serial, submit, NULL, destroy, VOW_SERIAL};

int executor_number(vow_executor *executor) {
    if (executor == vow_executor_inline()) {
        return 0;
    }
    for (int i = 0; i < f.queue_count; i++) {
        if (executor == f.queues[i].real) {
            return 1 + i;
        }
    }
    for (int i = 0; i < f.loop_count; i++) {
        if (executor == f.loops[i].executor) {
            return 10 + i;
        }
    }
    fail("an executor that nobody made");
}

/* NULL: none is named. */
vow_executor *some_executor(int *number) {
    unsigned which = next_below((unsigned)(f.queue_count + f.loop_count) + 3);
    if (which < 2 || (int)which > f.queue_count + f.loop_count + 1) {
        vow_executor *named = which == 1 ? vow_executor_inline() : NULL;
        *number = executor_number(named ? named : vow_executor_current());
        return named;
    }
    int index = (int)which - 2;
    bool is_queue = index < f.queue_count;
    *number = is_queue ? 1 + index : 10 + index - f.queue_count;
    return is_queue ? f.queues[index].real : f.loops[index - f.queue_count].executor;
}

void check_place(int executor) {
    frame top = f.frames[f.depth];
    EXPECT(top != IN_HANDLER && top != IN_CALLBACK, "a handler inside a handler or callback");
    EXPECT(executor == 0 || executor >= 10 ||
               (top == IN_TASK && f.frame_executors[f.depth] == executor),
           "a handler outside of queue %d", executor);
    EXPECT(executor < 10 || top == IN_AWAIT ||
               (top == IN_LOOP && f.frame_executors[f.depth] == executor),
           "a handler outside of loop %d", executor - 10);
}

static void run_task(queue *self) {
    void (*run)(void *work) = self->tasks[0].run;
    void *work = self->tasks[0].work;
    self->count--;
    memmove(&self->tasks[0], &self->tasks[1], (size_t)self->count * sizeof self->tasks[0]);
    enter(IN_TASK, 1 + (int)(self - f.queues));
    run(work);
    leave();
}

/* Not inside a handler, where they would run inside another. */
void run_tasks(bool all) {
    unsigned most = all ? ~0u : 1 + next_below(4);
    for (bool again = true; again && most > 0;) {
        again = false;
        for (int i = 0; i < f.queue_count && most > 0; i++) {
            if (f.queues[i].count > 0) {
                run_task(&f.queues[i]);
                again = true;
                most--;
            }
        }
    }
}

void executor_step(unsigned which) {
    int number;
    if (which == 0 && f.queue_count < QUEUES) {
        queue *self = &f.queues[f.queue_count++];
        self->real = vow_executor_custom(&serial, self);
        EXPECT(self->real != NULL, "no executor");
    } else if (which == 2) {
        vow_executor *executor = some_executor(&number);
        vow_executor_set_default(executor != NULL ? executor : vow_executor_inline());
    } else if (which > 2 && f.depth == 0) {
        run_tasks(false);
    }
}
