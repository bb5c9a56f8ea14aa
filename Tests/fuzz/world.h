/* What a running program has: its handles, its contexts, and which of its callbacks are running. */
#ifndef VOW_FUZZ_WORLD_H
#define VOW_FUZZ_WORLD_H

#include "bytes.h"
#include "model.h"

enum { SLOTS = 12, EXECUTORS = 16, QUEUE = 1024, MAX_DEPTH = 4 };

/* A value of the library and the model's index of it. */
typedef struct pair {
    vow_value real;
    int model;
} pair;

/* A context of a reaction. */
typedef struct context {
    int reaction; /* the promise that the handler's result resolves */
    int returned; /* what the handler returned, while the destructor runs; -1: nothing */
    int refused;  /* the promise that a refused call has until the destructor ends; else -1 */
    int runs, destroyed;
    bool busy; /* its handler runs, or its destructor */
    bool has_destroy;
} context;

/* What is called on cancellation; its number is the model's. */
typedef struct hook {
    int called, destroyed;
    bool has_destroy;
} hook;

/* An object of the program. */
typedef struct object {
    int value; /* the model's */
    int destroyed;
} object;

/* Number 0 is the inline one. */
typedef enum executor_kind {
    EXECUTOR_INLINE,
    EXECUTOR_SERIAL, /* queued, run in order */
    EXECUTOR_LOOSE,  /* queued, run in any order */
    EXECUTOR_NOW     /* runs inside submit */
} executor_kind;

typedef struct executor {
    vow_executor *real;
    executor_kind kind;
    uint32_t flags;
    bool held; /* the program has its reference */
    bool here; /* what `current` says */
    int destroyed;
    int queued;
    struct {
        void (*run)(void *work);
        void *work;
    } queue[QUEUE];
} executor;

/* What is on the stack, innermost last. A handler may start only under one of the first three. */
typedef enum frame {
    FRAME_TOP,
    FRAME_RUN, /* run(work) of an executor, called by the program */
    FRAME_AWAIT,
    FRAME_HANDLER,
    FRAME_CALLBACK /* destructor, hook, submit, subscribe */
} frame;

typedef struct world {
    vow_promise *promises[SLOTS];
    int promise_models[SLOTS];
    vow_resolver *resolvers[SLOTS];
    int resolver_models[SLOTS];
    vow_cancel_source *sources[SLOTS];
    int source_models[SLOTS];
    vow_token *tokens[SLOTS];
    int token_models[SLOTS];
    vow_value values[SLOTS];
    int value_models[SLOTS]; /* -1: empty */

    vow_promise *real[MODEL_PROMISES]; /* where the promises of the model are, or were */
    context contexts[MODEL_PROMISES];
    int own_contexts[MODEL_PROMISES]; /* of the promises of reactions, from 1 */
    bool cancelled[MODEL_PROMISES];   /* vow_cancel has said so */
    hook hooks[MODEL_HOOKS];
    object objects[MODEL_VALUES];
    executor executors[EXECUTORS];
    int context_count, object_count, executor_count;
    int default_executor;

    frame frames[256];
    int frame_executors[256]; /* of a handler, or of a run */
    int carried[256];         /* what travels along, as far as it is known; -1: nothing */
    bool carried_is_set[256]; /* by the handler itself, whose reference is held */
    int depth;
    int fiber_depth; /* where the latest function of a fiber runs; 0: none */
    unsigned events; /* callbacks that have begun or ended, and what the program has done */
    int leaver;      /* the last handler's reaction, if that has left an object as context */
    int left;        /* that object; else -1 */
    unsigned left_at;
    int consumed;    /* a promise that a call has while executors hear of its link; else -1 */
    int registering; /* the reaction that is being made; it enters its token last */
    int submits;     /* how many calls of submit are on the stack */

    int64_t next_code;
    int reports[MODEL_VALUES]; /* by program's error code */
    int own_reports[16];       /* by the library's */
} world;

extern world w;

void push_frame(frame kind, int executor);
void pop_frame(void);
frame top_frame(void);

/* values.c */
pair take_value(void);
pair make_value(unsigned what);
pair usable_result(pair value);
pair usable_for(int promise, pair value);
pair without_pending(pair value);
void drop_value(pair value);
void hold(pair value);
void let_go(pair value);
void compare(vow_value real, int model);
void check_describe(vow_value real);
void put_value(pair value);

/* callbacks.c */
vow_value on_value(vow_value input, void *context);
vow_value on_fiber(vow_value input, void *context);
vow_value on_error(vow_value input, void *context);
vow_value on_either(vow_value input, void *context);
void on_destroy(void *context);
void on_unhandled(vow_value error, void *context);
void on_object_destroy(void *pointer);
bool on_subscribe(void *pointer, vow_resolver *resolver);
extern const vow_class plain_class, thenable_class;

/* executors.c */
void make_executor(void);
void release_executor(int number);
void pump(void);
void pump_all(void);
int current_executor(void);
void check_current(void);
int any_executor(void);
vow_executor *executor_handle(int number);

/* promises.c, chaining.c, wrong.c */
void put_promise(vow_promise *real, int model);
void put_resolver(vow_resolver *real, int model);
int some_promise(void);
int some_resolver(void);
int some_value(void);
void release_promise(int slot);
void release_resolver(int slot);
void release_value(int slot);
void promise_op(unsigned which);
void resolver_op(unsigned which);
void chaining_op(unsigned which);
void bad_op(unsigned which);
int new_context(bool has_destroy);
int expect_reaction(int promise, int number, model_reaction reaction);
void have(vow_promise *real, int model);
/* The call has given back what it had, before anything but `submit` was called. */
void end_consumed(void);
/* The promise to chain on: taken from its slot, or one more reference; NULL: there is none. */
vow_promise *consumed_promise(int *model);

/* cancelling.c, combining.c, travelling.c */
void cancelling_op(unsigned which);
void combining_op(unsigned which);
void travelling_op(unsigned which);
void release_source(int slot);
void release_token(int slot);
/* A token in a slot, as the model's number; -1: there is none. */
int some_token(vow_token **token);
void on_hook(void *context);
void check_hooks(void);
/* What reactions made here carry along; and whether that is so. */
int carried_here(void);
void check_carried(void);
void end_carried(void);
/* Whether what happened is already as the model has it. */
bool is_exact(vow_promise *real, int model);

/* interpreter.c */
void run_op(void);
void run_ops(unsigned count);

/* quiet.c: what must be true whenever no call is running. */
void check_quiet(void);
void check_state(int slot, bool strict);
/* A promise whose context, or what its handler has left as that, is being destroyed. */
void check_is_pending(int number);
void check_end(uint64_t bytes_before);

#endif
