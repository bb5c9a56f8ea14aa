/* Scenes of cancelling: one link, what stands around it, and a journal of what happened, in words.
 *
 *   f<5  the handler f read 5     f>  it returns     f~  its context is destroyed
 *   x!   the producer of x is told that nobody wants it     !5  the outcome, seen by a reader
 */
#ifndef VOW_TEST_QUIET_H
#define VOW_TEST_QUIET_H

#include "tools.h"

#include <sched.h>
#include <stdarg.h>

typedef struct scene {
    pthread_mutex_t lock;
    char text[512];
} scene;

static inline void scene_begin(scene *self) {
    memset(self, 0, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
}

__attribute__((format(printf, 2, 3))) static inline void scene_add(scene *self, const char *format,
                                                                   ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&self->lock);
    size_t used = strlen(self->text);
    size_t left = sizeof self->text - used;
    if (used > 0) {
        (void)snprintf(self->text + used, left, " ");
        used++;
        left--;
    }
    (void)vsnprintf(self->text + used, left, format, arguments);
    pthread_mutex_unlock(&self->lock);
    va_end(arguments);
}

/* Whether the text is the expected one; who played it says what it was about. */
static inline bool scene_is(scene *self, const char *expected, const char *what) {
    pthread_mutex_lock(&self->lock);
    bool good = CHECK_STR_EQ(self->text, expected);
    pthread_mutex_unlock(&self->lock);
    pthread_mutex_destroy(&self->lock);
    if (!good) {
        printf("# %s\n", what);
    }
    return good;
}

static inline const char *word_of(vow_value value, char buffer[32]) {
    if (value.kind == VOW_ERROR && vow_error_code(value) == VOW_ECANCELLED) {
        return "cancelled";
    }
    if (value.kind == VOW_ERROR) {
        (void)snprintf(buffer, 32, "e%lld", (long long)vow_error_code(value));
    } else if (value.kind == VOW_INT) {
        (void)snprintf(buffer, 32, "%lld", (long long)value.as.integer);
    } else {
        return value.kind == VOW_NONE ? "none" : "list";
    }
    return buffer;
}

/* A function of the program's, and what it does. */
typedef struct stage {
    scene *in;
    const char *name;
    bool waits;         /* at its gate */
    bool tells_return;  /* writes when it returns */
    vow_promise *gives; /* consumed by the first call; else the result: */
    vow_value result;   /* none: its input */
    atomic_int entered;
    atomic_int open;
    atomic_int ended; /* its context is destroyed */
} stage;

static inline vow_value stage_run(vow_value input, void *context) {
    stage *self = context;
    char buffer[32];
    vow_promise *given = self->gives;
    self->gives = NULL;
    scene_add(self->in, "%s<%s", self->name, word_of(input, buffer));
    atomic_store(&self->entered, 1);
    if (self->waits) {
        CHECK(reaches(&self->open, 1));
    }
    vow_value result = given != NULL                   ? vow_from_promise(given)
                       : self->result.kind != VOW_NONE ? vow_value_retain(self->result)
                                                       : vow_value_retain(input);
    if (self->tells_return) {
        scene_add(self->in, "%s>", self->name);
    }
    return result;
}

static inline void stage_end(void *context) {
    stage *self = context;
    scene_add(self->in, "%s~", self->name);
    atomic_fetch_add(&self->ended, 1);
}

/* Reads an outcome, and is no reader upstream of anything that a scene cancels. */
static inline vow_value see_outcome(vow_value input, void *context) {
    char buffer[32];
    scene_add(context, "!%s", word_of(input, buffer));
    return vow_none();
}

/* Of a promise (borrowed): the reader, which settles when it has seen the outcome. */
static inline vow_promise *seen_by(scene *in, vow_promise *promise) {
    return either_on(vow_executor_inline(), vow_promise_retain(promise), see_outcome, in);
}

/* A promise whose producer writes its name when it is told. */
typedef struct produced {
    scene *in;
    const char *name;
    vow_resolver *resolver;
} produced;

static inline void produced_told(void *context) {
    produced *self = context;
    scene_add(self->in, "%s!", self->name);
}

static inline vow_promise *produced_begin(produced *self, scene *in, const char *name) {
    self->in = in;
    self->name = name;
    vow_promise *promise = vow_promise_create(&self->resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(self->resolver, produced_told, self, NULL), 0);
    return promise;
}

/* Where handlers run. */
typedef enum place { INLINE, LOOP, SERIAL, POOL, PLACES } place;

static const char *const place_names[PLACES] = {"inline", "loop", "serial", "pool"};

typedef struct runner {
    place at;
    vow_executor *executor; /* owned */
    vow_loop *loop;
    pthread_t thread;
    atomic_int is_made;
    atomic_int is_over;
} runner;

static inline void *runner_loop(void *context) {
    runner *self = context;
    self->loop = vow_loop_create();
    self->executor = vow_executor_retain(vow_loop_executor(self->loop));
    atomic_store(&self->is_made, 1);
    while (!atomic_load(&self->is_over)) {
        CHECK(vow_loop_run_once(self->loop, VOW_FOREVER) >= 0);
    }
    vow_loop_destroy(self->loop);
    return NULL;
}

static inline void runner_begin(runner *self, place at) {
    memset(self, 0, sizeof *self);
    self->at = at;
    if (at == LOOP) {
        self->thread = start_thread(runner_loop, self);
        CHECK(reaches(&self->is_made, 1));
    } else if (at == SERIAL) {
        self->executor = vow_executor_serial("quiet");
    } else {
        self->executor =
            vow_executor_retain(at == POOL ? vow_executor_pool() : vow_executor_inline());
    }
}

static inline void runner_end(runner *self) {
    if (self->at == LOOP) {
        atomic_store(&self->is_over, 1);
        vow_loop_wake(self->loop);
        pthread_join(self->thread, NULL);
    }
    vow_executor_release(self->executor);
}

/* Everything that an executor can run at a time, held up at one gate. */
typedef struct crowd {
    atomic_int entered;
    atomic_int open;
    vow_promise *members[256];
    int count;
} crowd;

static inline vow_value crowd_wait(vow_value input, void *context) {
    crowd *self = context;
    (void)input;
    atomic_fetch_add(&self->entered, 1);
    CHECK(reaches(&self->open, 1));
    return vow_none();
}

/* As many threads as the pool has. */
static inline int pool_threads(void) {
    cpu_set_t set;
    CHECK_INT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set) > 2 ? CPU_COUNT(&set) : 2;
}

static inline void crowd_occupy(crowd *self, const runner *on) {
    memset(self, 0, sizeof *self);
    int most = on->at == POOL ? pool_threads() : on->at == INLINE ? 0 : 1;
    for (; self->count < most && self->count < 256; self->count++) {
        self->members[self->count] = vow_async(on->executor, crowd_wait, self);
    }
    CHECK(reaches(&self->entered, self->count));
}

static inline void crowd_leave(crowd *self) {
    atomic_store(&self->open, 1);
    while (self->count > 0) {
        CHECK_INT_EQ(code_of(self->members[--self->count]), 0);
    }
}

#endif
