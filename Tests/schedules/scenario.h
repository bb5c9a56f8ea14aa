/* What a scenario is, and what it may use. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "scheduler.h"

#include <vow.h>

/* Executed from scratch for every schedule: start() alone, then the bodies at the same time, then
 * finish() alone. What is live then must be what was live before. */
typedef struct scenario {
    const char *name;
    void (*start)(void);
    void (*bodies[SCHEDULER_THREADS])(void);
    void (*finish)(void);
    /* How many preemptions are explored exhaustively. */
    int bound;
    /* How many different ends there are: outcome(0) to outcome(outcomes - 1), each of which must be
     * seen, or the scenario shows less than it says. */
    int outcomes;
} scenario;

/* SCENARIO some_name = {...}; all of them stand in one section, which is their list. */
#define SCENARIO static const scenario __attribute__((used, section("scenarios")))

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : scheduler_fail("%s:%d: %s", __FILE__, __LINE__, #condition))

void outcome(int number);

/* Rejections that were reported as unhandled in this execution. */
extern int unhandled;

/* A promise with its resolver. */
typedef struct deferred {
    vow_promise *promise;
    vow_resolver *resolver;
} deferred;

deferred defer(void);
/* One that is told when it is cancelled, and ends with its resolver. */
deferred defer_cooperative(void);
void release(deferred *it);
/* Resolves with the other's promise, which stays the caller's too. */
void resolve_with(const deferred *it, const deferred *other);

/* A handler that is called once, with what, and when. */
typedef struct call {
    /* Moments: the registration began and had returned; the handler started. 0: not yet. */
    int asked, registered, started;
    int times;
    bool rejected;
    int64_t content; /* the integer, or the error's code */
    /* Done inside the handler, before it returns. May be NULL. */
    void (*inside)(void);
} call;

/* Registers it for both outcomes, on an executor (NULL: inline); lets go of what is derived. */
void on_settled(vow_promise *promise, vow_executor *executor, call *it);

/* The same by vow_then, on the executor that is the default here; returns what is derived. The
 * promise is consumed. */
vow_promise *then_here(vow_promise *promise, call *it);

/* Each ran once; and whoever was registered after another one had been, started after it. */
void check_order(const call *calls, int count);

void check_once(const call *it, bool rejected, int64_t content);

/* The promise is settled so; and not only pending. */
void check_settled(vow_promise *promise, vow_state state, int64_t content);

/* What a settled promise holds: the integer, or the error's code. */
int64_t content_of_promise(vow_promise *promise);

/* What the handlers of a watched reaction return. */
#define RESULT 100

/* A reaction whose handlers and context are counted. As long as `promise` is set, each handler
 * finds it pending when it is about to return, and so does the destructor of the context (G14). */
typedef struct watched {
    vow_promise *promise; /* owned */
    int fulfilled, rejected, destroyed;
    bool has_catch;
    int64_t content;
    /* The context lives until this is settled; borrowed, and not looked at where it is NULL. */
    vow_promise *awaited;
    /* Done inside the handler, before it returns. May be NULL. */
    void (*inside)(void);
    /* What it returns (consumed), instead of RESULT. May be NULL. */
    vow_promise *returned;
} watched;

/* Registers it on a promise (borrowed). */
void watch(watched *it, vow_promise *promise, vow_executor *executor, vow_token *token);
/* The same with other handlers: VOW_FINALLY, or WITHOUT_CATCH. */
#define WITHOUT_CATCH 0x100u
void watch_as(watched *it, vow_promise *promise, vow_executor *executor, vow_token *token,
              uint32_t flags);
/* One handler ran, once, or none where one is missing (G15); the context was destroyed once. */
void check_watched(const watched *it);
/* Its promise is not looked at any more. */
void let_go_of_watched(watched *it);
/* Whether it was cancelled before its handler began (0), so that none has seen a value; while it
 * ran (1); or not at all (2). */
int fate_of(const watched *it);

/* A function that is called on cancellation. */
typedef struct heard {
    int called, destroyed;
} heard;

void hear_resolver(heard *it, vow_resolver *resolver);
void hear_token(heard *it, vow_token *token);
/* The same, and it can leave. Owned. */
vow_registration *register_resolver(heard *it, vow_resolver *resolver);
vow_registration *register_token(heard *it, vow_token *token);
/* Destroyed once, and called at most so often. */
void check_heard(const heard *it, int at_least, int at_most);

/* A serial executor of the program: a list, which bodies empty with executor_work. */
typedef struct list_executor {
    vow_executor *handle;
    void (*run[8])(void *work);
    void *work[8];
    int added, taken, destroyed;
} list_executor;

void list_executor_make(list_executor *it);
/* Runs so many pieces of work, waiting for them. */
void list_executor_work(list_executor *it, int pieces);
/* Runs what is left, in `finish`. */
void list_executor_drain(list_executor *it);
/* Runs what comes until *ended, which other bodies set. */
void list_executor_work_until(list_executor *it, const bool *ended);

#endif
