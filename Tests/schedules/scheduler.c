/* The core's threads, one at a time: each atomic step asks here first, sleeping is a state. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "scheduler.h"

#include "platform.h"

#include <semaphore.h>
#include <stdarg.h>

/* After so many spins in a row a thread goes on only when no other can: fairness, without which a
 * schedule may let two threads spin for ever while the third, who could end it, stands. */
#define FAIR_SPINS 3
/* Steps without a spin, after which the next spin is the first again. */
#define STEPS_OF_PROGRESS 40

typedef enum { READY, PAUSED, ASLEEP, WAITING, DONE } standing;

typedef struct worker {
    sem_t turn;
    void (*body)(void);
    standing standing;
    /* PAUSED: `changes` then; how many in a row; when it went on last. */
    uint64_t changes_seen;
    int spins;
    int steps_since_spin;
    uint64_t resumed_at;
    /* ASLEEP */
    const void *word;
    bool has_deadline;
    bool woken;
    /* WAITING */
    bool (*ready)(const void *);
    const void *argument;
    /* The word of the last step and what it held before. */
    const uint64_t *stepped;
    uint64_t held;
    /* The stack in use reaches from `lowest` to `stack_end`. */
    const char *stack, *lowest, *stack_end;
} worker;

static worker workers[SCHEDULER_THREADS];
static int worker_count;
static _Thread_local worker *self;
static sem_t all_done;
static bool is_running;
/* Steps that changed a word, and steps. */
static uint64_t changes;
static uint64_t steps;
bool scheduler_traces;

static int number_of(const worker *it) {
    return (int)(it - workers);
}

int scheduler_self(void) {
    return self != NULL && is_running ? number_of(self) : -1;
}

static bool can_run(const worker *it) {
    switch (it->standing) {
    case READY:
        return true;
    case PAUSED:
        return it->spins <= FAIR_SPINS && changes > it->changes_seen;
    case ASLEEP:
        return it->woken || it->has_deadline;
    case WAITING:
        return it->ready(it->argument);
    case DONE:
        break;
    }
    return false;
}

/* The threads that can run, from `first` on and around. */
static int list_runnable(int first, int *threads) {
    int count = 0;
    for (int i = 0; i < worker_count; i++) {
        int candidate = (first + i) % worker_count;
        if (can_run(&workers[candidate])) {
            threads[count++] = candidate;
        }
    }
    return count;
}

/* When nobody else can: the spinning thread that has stood longest. Or none. */
static worker *longest_paused(void) {
    worker *found = NULL;
    for (int i = 0; i < worker_count; i++) {
        worker *it = &workers[i];
        if (it->standing == PAUSED && (found == NULL || it->resumed_at < found->resumed_at)) {
            found = it;
        }
    }
    return found;
}

static bool all_are_done(void) {
    for (int i = 0; i < worker_count; i++) {
        if (workers[i].standing != DONE) {
            return false;
        }
    }
    return true;
}

/* Who goes on; NULL when all have returned. */
static worker *choose_next(void) {
    int threads[SCHEDULER_THREADS];
    int first = self != NULL ? number_of(self) : 0;
    int count = list_runnable(first, threads);
    worker *next;
    if (count > 0) {
        bool continues = self != NULL && self->standing == READY;
        int chosen = count > 1 ? explore_choose(threads, count, continues) : 0;
        next = &workers[threads[chosen]];
    } else {
        next = longest_paused();
        if (next == NULL && !all_are_done()) {
            scheduler_fail("deadlock: no thread can go on");
        }
    }
    if (next != NULL) {
        if (next->standing != ASLEEP) {
            next->standing = READY;
        }
        next->resumed_at = ++steps;
        if (steps > SCHEDULER_STEPS) {
            scheduler_fail("livelock: still running after %d steps", SCHEDULER_STEPS);
        }
    }
    return next;
}

/* Lets the chosen thread go on, and returns when this one is chosen again. */
static void switch_threads(void) {
    worker *mine = self;
    worker *next = choose_next();
    /* Read now: after the post another execution may have begun. */
    bool has_returned = mine->standing == DONE;
    if (next == mine) {
        return;
    }
    sem_post(next == NULL ? &all_done : &next->turn);
    if (!has_returned) {
        while (sem_wait(&mine->turn) != 0) {
        }
    }
}

/* What the last step did is known when the thread comes here again. Its memory may be free by then,
 * but it is still mapped; a change too many costs a few schedules more. */
static void note_change(void) {
    if (self->stepped != NULL && *self->stepped != self->held) {
        changes++;
    }
    self->stepped = NULL;
}

/* A word on the stack of a thread that has returned from there: the use after return that
 * AddressSanitizer does not see, because the stack is in use again or will be. */
static void check_stacks(const void *address) {
    const char *at = address;
    for (int i = 0; i < worker_count; i++) {
        const worker *it = &workers[i];
        if (it != self && at >= it->stack && at < it->lowest) {
            scheduler_fail("thread %d touches a frame that thread %d has left", scheduler_self(),
                           i);
        }
    }
}

static void trace(int step, const void *address) {
    static const char *const names[] = {"read", "write", "change", "own", "pause", "wake", "sleep"};
    if (scheduler_traces) {
        fprintf(stderr, "%5d  thread %d  %-6s %p\n", (int)steps, scheduler_self(), names[step],
                address);
    }
}

static void arrive(const void *frame) {
    note_change();
    self->lowest = frame;
    if (++self->steps_since_spin > STEPS_OF_PROGRESS) {
        self->spins = 0;
    }
}

void vow_schedule_point(int step, const void *address) {
    if (scheduler_self() < 0) {
        return;
    }
    arrive(__builtin_frame_address(0));
    if (step == VOW_STEP_PAUSE) {
        self->standing = PAUSED;
        self->changes_seen = changes;
        self->spins++;
        self->steps_since_spin = 0;
    }
    if (step != VOW_STEP_OWN) {
        switch_threads();
    }
    trace(step, address);
    if (step == VOW_STEP_WAKE) {
        for (int i = 0; i < worker_count; i++) {
            if (workers[i].standing == ASLEEP && workers[i].word == address) {
                workers[i].woken = true;
                break;
            }
        }
    } else if (step <= VOW_STEP_CHANGE) {
        check_stacks(address);
        self->stepped = (const uint64_t *)((uintptr_t)address & ~(uintptr_t)7);
        self->held = *self->stepped;
    }
}

int vow_schedule_sleep(const void *word, uint32_t expected, int has_deadline) {
    if (scheduler_self() < 0) {
        abort();
    }
    arrive(__builtin_frame_address(0));
    switch_threads();
    trace(6, word);
    if (*(const uint32_t *)word != expected) {
        return 1;
    }
    self->word = word;
    self->has_deadline = has_deadline != 0;
    self->woken = false;
    self->standing = ASLEEP;
    switch_threads();
    self->standing = READY;
    return self->woken;
}

void scheduler_point(void) {
    if (scheduler_self() >= 0) {
        arrive(__builtin_frame_address(0));
        switch_threads();
    }
}

void scheduler_block_until(bool (*ready)(const void *argument), const void *argument) {
    arrive(__builtin_frame_address(0));
    if (ready(argument)) {
        return;
    }
    self->ready = ready;
    self->argument = argument;
    self->standing = WAITING;
    switch_threads();
}

static void *work(void *argument) {
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0;
    self = argument;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
    self->stack = stack;
    self->stack_end = __builtin_frame_address(0);
    self->body();
    sem_post(&all_done);
    for (;;) {
        while (sem_wait(&self->turn) != 0) {
        }
        self->body();
        note_change();
        self->lowest = self->stack_end;
        self->standing = DONE;
        switch_threads();
    }
    return NULL;
}

void scheduler_start(void (*enter)(void)) {
    sem_init(&all_done, 0, 0);
    for (int i = 0; i < SCHEDULER_THREADS; i++) {
        pthread_t thread;
        sem_init(&workers[i].turn, 0, 0);
        workers[i].body = enter;
        if (pthread_create(&thread, NULL, work, &workers[i]) != 0) {
            scheduler_fail("no thread");
        }
        pthread_detach(thread);
        while (sem_wait(&all_done) != 0) {
        }
    }
}

void scheduler_run(void (*const *bodies)(void), int count) {
    worker *first;
    worker_count = count;
    changes = 0;
    steps = 0;
    for (int i = 0; i < count; i++) {
        worker *it = &workers[i];
        it->body = bodies[i];
        it->standing = READY;
        it->spins = it->steps_since_spin = 0;
        it->resumed_at = 0;
        it->stepped = NULL;
        it->lowest = it->stack_end;
    }
    is_running = true;
    first = choose_next();
    sem_post(&first->turn);
    while (sem_wait(&all_done) != 0) {
    }
    is_running = false;
}

void scheduler_fail(const char *format, ...) {
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "failed: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    explore_report();
    _exit(1);
}
