/* The interpreter without a model: every chapter, also inside callbacks, and what must hold
 * whatever happens.
 *
 * What a program has is known by numbers. A record is a promise as long as the program has handles
 * of it, and what was seen of it for ever.
 */
#ifndef VOW_FUZZ_FREE_H
#define VOW_FUZZ_FREE_H

#include "../bytes.h"
#include "vow.h"

enum { PLACES = 10, RECORDS = 1536, LINKS = 1024, HOOKS = 256, OBJECTS = 1024, EDGES = 8192 };
enum { MEMBERS = 4, QUEUES = 3, LOOPS = 3, TASKS = 512, SCOPES = 4, LISTENERS = 64, MACHINES = 64 };
enum { DEPTH = 24, FRAMES = 256 };

/* All times are multiples of it. The process's clock does not come so far while a program runs. */
#define HOUR INT64_C(3600000000000)

/* What made a promise, as far as that says something about its result. */
typedef enum origin {
    BY_RESOLVER,
    BY_LINK,
    BY_ALL,
    BY_ALL_SETTLED,
    BY_ANY,
    BY_SOME,
    BY_RACE,
    BY_MAP,
    BY_REDUCE,
    BY_REPEAT,
    BY_RETRY,
    BY_DELAY,
    BY_TIMEOUT,
    BY_DESCRIPTOR,
    BY_SCOPE
} origin;

typedef struct record {
    vow_promise *real;
    origin origin;
    int holds;
    vow_state seen;
    vow_value value; /* bits to compare, once it was seen */
    bool known;      /* the value is */
    bool kept;       /* the members are, as witnesses */
    int members[MEMBERS];
    int count, wanted;
    int64_t deadline;
    int loop; /* whose clock; -1: the process's */
    int machine;
    uint32_t events;
    bool cancelled;      /* by the program itself */
    bool was_pending;    /* when it was, so it is rejected */
    int link;            /* whose handler's result it has, from 1 */
    bool cancelled_last; /* the program keeps a handle for that */
    bool told;           /* by the program: how far it is */
    double fraction;
    int note;
} record;

/* A context of a reaction. */
typedef struct bond {
    int record;   /* the new promise; -1 before it is made */
    int upstream; /* the record that it reads; -1: none */
    int executor;
    int carried; /* the context that travels along; -1: none */
    bool on_value, on_error, finally, cleans_up, has_token, has_destroy;
    bool overtaken; /* a later one has begun, so it never may */
    bool running;   /* its handler, or its destructor */
    int runs, destroyed;
} bond;

typedef struct watch {
    int group; /* those of one resolver or token, in order */
    bool of_token;
    int called, destroyed;
} watch;

typedef struct thing {
    int destroyed, asked;
    int owner; /* the record that was resolved with it */
} thing;

typedef struct queue {
    vow_executor *real;
    int destroyed, count;
    struct {
        void (*run)(void *work);
        void *work;
    } tasks[TASKS];
} queue;

typedef struct clocked {
    vow_loop *real;
    vow_executor *executor; /* retained until the end */
    bool is_virtual;        /* else no hour passes */
    int64_t seen;           /* the latest time */
} clocked;

typedef struct space {
    vow_scope *real;
    int end; /* the record of its end, which has a promise once it is closed */
    bool closed, kept, cancelled;
    int members[MEMBERS * 4];
    int count;
} space;

typedef struct listener {
    int record;
    int64_t interval, last;
    int loop;
    int calls, destroyed;
    bool running;
    double told;
} listener;

/* Of map, reduce, repeat and retry. */
typedef struct machine {
    int record;
    int executor, carried;
    int items, begun, running;
    int wanted; /* so many at a time, or so many attempts; 0: all */
    bool failed;
    bool has_last;
    vow_value last; /* the bits of the latest result, where that is plain */
    vow_value results[MEMBERS * 2];
    bool plain[MEMBERS * 2];
    /* Records that the program keeps, each for an item under way; -1: none. */
    int waits[MEMBERS * 2];
    int64_t error;
} machine;

typedef enum frame {
    AT_TOP,
    IN_TASK,  /* run(work), called by the program */
    IN_LOOP,  /* a function that runs a loop */
    IN_AWAIT, /* or one that may run what only this thread can */
    IN_HANDLER,
    IN_CALLBACK
} frame;

typedef struct state {
    vow_promise *none; /* NULL, which compilers would refuse */
    vow_loop *no_loop;
    int promises[PLACES];
    vow_resolver *resolvers[PLACES];
    int resolver_records[PLACES]; /* whose result it decides */
    int resolver_groups[PLACES];  /* the same for all handles of one */
    vow_cancel_source *sources[PLACES];
    space scopes[SCOPES];
    record records[RECORDS];
    bond links[LINKS];
    watch watches[HOOKS];
    thing things[OBJECTS];
    queue queues[QUEUES];
    clocked loops[LOOPS];
    listener listeners[LISTENERS];
    machine machines[MACHINES];
    int edges[EDGES][2];
    int record_count, link_count, watch_count, thing_count, queue_count, loop_count;
    int listener_count, machine_count, edge_count, group_count;
    frame frames[FRAMES];
    int frame_executors[FRAMES];
    int carried[FRAMES];
    int depth;
    int fibers; /* functions of fibers that run */
    int64_t next_code;
    int adopted;  /* the record of the latest promise that became a value */
    bool looks;   /* at values whenever it can, which marks errors as seen */
    bool can[16]; /* which errors of the library's own there may be, by code */
    bool traced;
    bool had_threads;
    bool begun;         /* with a step of its own */
    int descriptors[3]; /* two of a pair, and one that takes everything */
} state;

extern state f;

void enter(frame kind, int executor);
void leave(void);
bool is_full(void);

/* records.c */
int new_record(vow_promise *real, origin origin);
void hold_record(int record);
void let_go_record(int record);
void wait_for(int record, int other);
bool reaches(int from, int to);
void put(int record);
int some_place(void);
/* A promise to be consumed, of a record that the program has; NULL: there is none. */
vow_promise *take(int *record);
void release_place(int place);
/* A value for `owner` to be resolved with. */
vow_value new_value(int owner);
vow_value plain_value(void);
bool same(vow_value one, vow_value other);
extern const vow_class free_plain, free_thenable;

/* results.c */
void learn(int record, vow_value value);
void look(int record);
bool is_own(vow_value value, int64_t code);

/* executors.c */
int executor_number(vow_executor *executor);
vow_executor *some_executor(int *number);
void check_place(int executor);
void executor_step(unsigned which);
void run_tasks(bool all);

/* callbacks.c */
vow_value free_on_value(vow_value input, void *context);
vow_value free_on_error(vow_value input, void *context);
vow_value free_on_fiber(vow_value input, void *context);
void free_on_destroy(void *context);
void free_on_hook(void *context);
void free_on_hook_destroy(void *context);
void free_on_unhandled(vow_value error, void *context);
void maybe_steps(void);
int carried_now(void);

/* chaining.c, cancelling.c, combining.c, machines.c, loops.c, time.c, scopes.c, progress.c,
 * looking.c */
void promise_step(unsigned which);
void resolver_step(unsigned which);
void chain_step(unsigned which);
void context_step(unsigned which);
void drop_resolver(int place);
void cancel_step(unsigned which);
vow_token *any_token(void);
void drop_source(int place);
void combine_step(unsigned which);
void machine_step(unsigned which);
void check_machine(int record, vow_value value);
void end_machines(void);
void loop_step(unsigned which);
void time_step(unsigned which);
int loop_here(void);
int64_t time_of(int loop);
/* Whether no hour passes there. */
bool is_slow(int loop);
void end_loop(int number);
void scope_step(unsigned which);
void check_scopes(void);
void end_scopes(void);
void progress_step(unsigned which);
void look_step(unsigned which);
void end_tracing(void);

/* threads.c */
void thread_step(void);
void wait_for_threads(uint64_t bytes_before);

/* interpreter.c, quiet.c */
void one_step(void);
void steps(unsigned count);
void check_all(void);
void check_finish(uint64_t bytes_before);

#endif
