/* The reference model: what vow.h promises, for one thread, as plain arrays that never shrink.
 *
 * Nothing here calls the library. Everything is named by its index; -1 is "none". The model is
 * eager: an outcome reaches passing reactions and followers at once. The library may do that a
 * little later, but must have done it when the outermost call returns.
 */
#ifndef VOW_FUZZ_MODEL_H
#define VOW_FUZZ_MODEL_H

#include "vow.h"

enum { MODEL_PROMISES = 1024, MODEL_VALUES = 4096, MODEL_RESOLVERS = 1024, MODEL_ITEMS = 3 };
enum { DOMAIN_FUZZ, DOMAIN_OTHER, DOMAIN_VOW };
enum { TEXT_ANY = -1, TEXT_NULL = -2 };

typedef struct model_value {
    vow_kind kind;
    int64_t number; /* content: number, bits, text, error code, object or promise */
    int domain;     /* of an error */
    int message;    /* of an error: a text, TEXT_ANY or TEXT_NULL */
    int payload;    /* of an error */
    bool thenable;  /* of an object */
    int items[MODEL_ITEMS];
    int count;
    int holds; /* references that the program has */
} model_value;

/* What a promise that is not settled waits for. */
typedef enum model_wait {
    WAITS_RESOLVER,
    WAITS_THENABLE, /* to be subscribed to */
    WAITS_UPSTREAM, /* a reaction, for the promise that it reads */
    WAITS_FOLLOWED, /* for the promise that it was resolved with */
    WAITS_EXECUTOR, /* a reaction whose handler will run */
    WAITS_HANDLER,  /* a reaction whose handler runs */
    WAITS_NOTHING
} model_wait;

typedef struct model_promise {
    vow_state state;
    int value;
    model_wait wait;
    bool observed;
    bool direct;   /* settled by the very call that resolved it, not by way of another promise */
    bool doubtful; /* whether it or what it follows reports a rejection is left open */
    bool gone;     /* counted as freed, when last looked */
    int holds;     /* references that the program has */
    int upstream;
    int outcome; /* of a finally that waits for its handler's promise: what it read */
    bool on_value, on_error, finally;
    int executor;
    int context;           /* to be destroyed with the reaction; -1: nothing to destroy */
    int order;             /* of registration */
    int epoch;             /* of the step in which it became ready */
    int first, last, next; /* members that wait for this one, in order; the queue it stands in */
    int must, may;         /* marks, see model_mark */
} model_promise;

typedef struct model_resolver {
    int promise;
    int holds;
    bool claimed;
    bool subscribed;  /* made for a thenable */
    bool subscribing; /* its thenable's subscribe has not returned */
} model_resolver;

typedef struct model {
    model_promise promises[MODEL_PROMISES];
    model_value values[MODEL_VALUES];
    model_resolver resolvers[MODEL_RESOLVERS];
    int promise_count, value_count, resolver_count;
    int orders, epoch;
    bool context_done[MODEL_PROMISES]; /* the context must be destroyed when the call returns */
    bool value_must[MODEL_VALUES], value_may[MODEL_VALUES];
} model;

extern model m;

/* True when a program has used up the arrays and has to end. */
bool model_is_full(void);

/* A value that nobody holds yet. */
int model_value_new(vow_kind kind, int64_t number);
int model_error_new(int domain, int64_t code, int message, int payload);

/* A promise that waits for `wait`. */
int model_promise_new(model_wait wait);
int model_resolver_new(int promise);

/* vow_promise_with for values that are no promise; vow_resolve and vow_reject. */
int model_promise_with(int value);
bool model_resolve(int resolver, int value);
bool model_reject(int resolver, int value);
void model_resolver_drop(int resolver);

/* A reaction on a promise; its fields say which. Async has no promise. */
typedef struct model_reaction {
    bool on_value, on_error, finally;
    int executor, context;
} model_reaction;
int model_react(int promise, model_reaction reaction);
int model_async(model_reaction reaction);

/* What keeps the handler of a reaction from starting now; NULL: nothing. The order counts on an
 * executor that keeps one. */
const char *model_start(int reaction, bool in_order);
/* What the handler is given. */
int model_input(int reaction);
/* The handler has returned and its context is destroyed. */
void model_finish(int reaction, int result);

/* subscribe is called: makes its resolver. And it has returned. */
int model_subscribe(int promise);
void model_subscribed(int promise, int resolver, int object, bool answer);

/* Whether a waits for b, by adoption or chaining, of any length. */
bool model_waits_for(int a, int b);
/* A promise adopts another one, which so is observed. Where a handler returned that one and nobody
 * can read the handler's own promise any more, either may report. */
void model_observe_by_adoption(int promise, int followed, bool by_handler);

/* Marks what must still be alive (the program can read it) and what may be (something that is
 * not settled, or a resolver, leads to it). */
void model_mark(void);

#endif
