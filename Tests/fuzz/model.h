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
enum { MODEL_HOOKS = 512, MODEL_SOURCES = 256, MODEL_GROUPS = 256, MODEL_PARENTS = 2 };
enum { DOMAIN_FUZZ, DOMAIN_OTHER, DOMAIN_VOW };
enum { TEXT_ANY = -1, TEXT_NULL = -2 };
enum { BY_FINALLY = 2 };

typedef struct model_value {
    vow_kind kind;
    int64_t number; /* content: number, bits, text, error code, object or promise */
    int domain;     /* of an error */
    int message;    /* of an error: a text, TEXT_ANY or TEXT_NULL */
    int payload;    /* of an error */
    int index;      /* of an error: the place of the member that failed; -1: none */
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
    WAITS_CONTEXT,  /* a reaction that is through, until its context is destroyed */
    WAITS_MEMBERS,  /* of a combinator */
    WAITS_MEMBER,   /* no promise: a combinator's eye on one */
    WAITS_NOTHING
} model_wait;

typedef struct model_promise {
    vow_state state;
    int value;
    model_wait wait;
    int observed;  /* also BY_FINALLY: by one alone, which takes it back if it fails */
    bool direct;   /* settled by the very call that resolved it, not by way of another promise */
    bool doubtful; /* whether it or what it follows reports a rejection is left open */
    bool gone;     /* counted as freed, when last looked */
    int holds;     /* references that the program has */
    int upstream;
    int outcome;    /* of a finally that waits for its handler's promise: what it read */
    int outcome_of; /* and of which promise */
    bool on_value, on_error, finally;
    int executor;
    int context;           /* to be destroyed before it settles; -1: nothing, or it is being done */
    int ending;            /* of WAITS_CONTEXT: what it settles with then */
    int order;             /* of registration */
    int epoch;             /* of the step in which it became ready, or settled */
    int first, last, next; /* members that wait for this one, in order; the queue it stands in */
    int must, may;         /* marks, see model_mark */

    bool is_reaction;
    bool cancelled; /* so it is never fulfilled */
    int error;      /* and that is what it was cancelled with */
    bool has_left;  /* cancelled, it waits for what others read, and is no reader of that */
    bool had_input; /* of a `finally`, which reads it all the same, since its promise had settled */
    bool begun;     /* its handler has begun */
    bool warned;    /* it was cancelled before that, and has read so */
    bool withdrawn; /* cancelled when its executor had it, and no handler is to run */
    bool is_kept; /* by its executor nevertheless, and what it was to read, until that is through */
    int kept;
    bool lost;    /* nobody is left to read it, and its producer was told */
    int redirect; /* the error that it reads in place of its promise's outcome */
    int token;
    int carried;     /* the context that it was made with */
    int group;       /* of WAITS_MEMBERS and WAITS_MEMBER */
    int place;       /* of WAITS_MEMBER */
    bool cancelling; /* it is to be cancelled, not only left */
    int left;        /* what it looked at */
} model_promise;

/* What is to be called on cancellation. */
typedef enum hook_due {
    HOOK_WAITS,
    HOOK_MAYBE,  /* whether somebody is left to read is left open */
    HOOK_UNSURE, /* whether a promise still has its linked source's token is left open */
    HOOK_CALLED,
    HOOK_DROPPED /* destroyed, and not called */
} hook_due;

typedef struct model_hook {
    int resolver, source; /* one of both */
    hook_due due;
    bool begun;  /* it was called */
    int carried; /* the context that it was given with */
} model_hook;

typedef struct model_source {
    int holds, tokens;
    bool cancelled;
    int reason, error;
    int parents[MODEL_PARENTS];
    int parent_count;
} model_source;

typedef enum group_kind {
    GROUP_ALL,
    GROUP_ALL_SETTLED,
    GROUP_ANY,
    GROUP_SOME,
    GROUP_RACE
} group_kind;

typedef struct model_group {
    group_kind kind;
    int promise;
    int count, wanted;
    int eyes[MODEL_ITEMS];
    int outcomes[MODEL_ITEMS]; /* a value; -1: none yet */
    int told_values, told_errors;
    bool creating, decided;
} model_group;

typedef struct model_resolver {
    int promise;
    int holds;
    bool claimed;
    bool subscribed;  /* made for a thenable */
    bool subscribing; /* its thenable's subscribe has not returned */
    bool cancelled;   /* its promise was cancelled before it was used */
} model_resolver;

typedef struct model {
    model_promise promises[MODEL_PROMISES];
    model_value values[MODEL_VALUES];
    model_resolver resolvers[MODEL_RESOLVERS];
    model_hook hooks[MODEL_HOOKS];
    model_source sources[MODEL_SOURCES];
    model_group groups[MODEL_GROUPS];
    /* What a settled promise's members, and what combinators leave, stand in until it is their
     * turn. */
    int outcomes[4 * MODEL_PROMISES], handed[4 * MODEL_PROMISES], leaving[4 * MODEL_PROMISES];
    int outcomes_first, outcomes_last, handed_first, handed_last, leaving_first, leaving_last;
    int steps;   /* under way, one in the other */
    bool taking; /* the outcomes */
    int promise_count, value_count, resolver_count;
    int hook_count, source_count, group_count;
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

/* A handle has been given back: followers that nothing but this promise keeps from its path move
 * on. */
void model_pass_followers_on(int promise);

/* vow_promise_with for values that are no promise; vow_resolve and vow_reject. */
int model_promise_with(int value);
bool model_resolve(int resolver, int value);
bool model_reject(int resolver, int value);
void model_resolver_drop(int resolver);

/* model_reaction.c. A reaction on a promise; its fields say which. Async has no promise. */
typedef struct model_reaction {
    bool on_value, on_error, finally;
    int executor, context;
    int token, carried; /* each from 1; 0: none */
} model_reaction;
int model_react(int promise, model_reaction reaction);
int model_async(model_reaction reaction);

/* What keeps the handler of a reaction from starting now; NULL: nothing. The order counts on an
 * executor that keeps one. */
const char *model_start(int reaction, bool in_order);
/* What the handler is given. */
int model_input(int reaction);
/* The handler has returned, and its context is destroyed unless it returned what is to be waited
 * for. */
void model_finish(int reaction, int result);
bool model_is_waited_for(int result);
/* A `finally` has failed behind a promise: nobody has observed that one's error, unless it is said
 * again. */
void model_replace(int promise, int error);
/* The context of one that is through was destroyed. */
void model_end(int reaction);

/* subscribe is called: makes its resolver. And it has returned. */
int model_subscribe(int promise);
void model_subscribed(int promise, int resolver, int object, bool answer);

/* model_cancel.c. Cancelling a promise with an error, and first what only it reads. */
int model_own_error(int64_t code);
int model_cancellation(int reason);
bool model_cancel(int promise, int error);
/* The same by its token: what it reads is left alone. */
void model_cancel_alone(int promise, int error);
/* What a cancelled promise has begun to follow is for nobody. */
void model_cancel_followed(int promise);
/* A reader has left: it is cancelled, unless there is another one. */
void model_cancel_unless_read(int promise);
bool model_is_read(int promise);
/* By a handle or as a value. */
bool model_is_held(int promise);
/* What nobody reads any more hears of it. To be called when handles or values have been given up.
 */
void model_look_for_lost(void);
/* A hook (with one of both, the other -1); returns its number. */
int model_add_hook(int resolver, int source, int carried);
void model_end_hooks(int promise, hook_due due);
void model_call_hooks_off(int promise);

/* model_source.c */
int model_source_new(const int *parents, int count);
bool model_source_cancel(int source, int reason);
void model_source_drop(int source);
void model_token_drop(int source);
bool model_can_be_cancelled(int source);

/* model_group.c. The promises are consumed. */
int model_combine(group_kind kind, const int *promises, int count, int wanted);
void model_member_settled(int eye, int member);
void model_group_stop(int promise, bool cancelling);
/* From 0 on: a combinator's eye that was closed. Below: a group that is decided, -1 - its number.
 */
void model_leave(int what);
void model_drain(void);
void model_give_up(int what);

/* For these: parts of the settling. In a step outcomes arrive, and nothing else is handed over
 * before its end. */
void model_step_begin(void);
void model_step_end(void);
void model_settle(int promise, int value);
/* The same, when its context is destroyed. */
void model_settle_last(int promise, int value);
void model_enqueue(int promise, int member);
void model_leave_queue(int member);
/* A reaction that stands in no queue any more will have its turn. */
void model_hand_over(int reaction);
void model_follow(int promise, int followed, bool by_handler);
void model_resolve_with(int promise, int value, bool by_handler);
/* A cancelled promise, a `finally`, or one whose context lives stands between its followers and
 * what it follows. */
bool model_stands_between(int follower);

/* Whether a waits for b, by adoption or chaining, of any length. */
bool model_waits_for(int a, int b);
/* The same by way of combinators too, where no ring is looked for. */
bool model_waits_at_all(int a, int b);
/* Of what a promise waits for, or of itself: what has settled in this step by way of another
 * promise, so that the library may have it pending still; -1: nothing. */
int model_on_its_way(int promise);
/* A promise adopts another one, which so is observed. Where a handler returned that one and nobody
 * can read the handler's own promise any more, either may report. */
void model_observe_by_adoption(int promise, int followed, bool by_handler);

/* Marks what must still be alive (the program can read it) and what may be (something that is
 * not settled, or a resolver, leads to it). */
void model_mark(void);

#endif
