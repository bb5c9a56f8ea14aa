/* G12, G3: chains cancelled at random moments from another thread, while a third one settles them:
 * exactly one wins, each context is destroyed once, each producer is told at most once. */
#include "stress.h"

#define LINKS 10
#define TOGETHER 256

typedef struct chain {
    vow_promise *middle; /* held, or NULL */
    vow_promise *end;
    vow_resolver *resolver;
    vow_cancel_source *source;
    atomic_int told;
    atomic_int told_ends;
    atomic_int ends;
    atomic_int seen; /* by the reaction at the end */
} chain;

typedef struct round {
    chain chains[TOGETHER];
    pthread_barrier_t begin;
    pthread_barrier_t end;
    long rounds;
    atomic_long cancelled, fulfilled, told;
} round_state;

static void tell(void *context) {
    atomic_fetch_add(&((chain *)context)->told, 1);
}

static void tell_end(void *context) {
    atomic_fetch_add(&((chain *)context)->told_ends, 1);
}

static void context_end(void *context) {
    atomic_fetch_add(&((chain *)context)->ends, 1);
}

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static vow_value pass_promise(vow_value input, void *context) {
    (void)context;
    return vow_from_promise(vow_promise_with(vow_value_retain(input)));
}

static vow_value see(vow_value input, void *context) {
    (void)input;
    atomic_fetch_add(&((chain *)context)->seen, 1);
    return vow_none();
}

static vow_executor *executors[4];

static void build(chain *self, uint64_t *random) {
    vow_promise *promise = vow_promise_create(&self->resolver);
    memset(&self->told, 0, sizeof *self - offsetof(chain, told));
    self->middle = NULL;
    self->source = random_next(random) % 4 == 0 ? vow_cancel_source_create() : NULL;
    vow_resolver_on_cancel(self->resolver, tell, self, tell_end);
    for (int i = 0; i < LINKS; i++) {
        vow_reaction reaction;
        memset(&reaction, 0, sizeof reaction);
        reaction.size = sizeof reaction;
        reaction.on_fulfilled = random_next(random) % 8 == 0 ? pass_promise : pass;
        reaction.context = self;
        reaction.destroy = context_end;
        reaction.executor = executors[random_next(random) % 4];
        reaction.token = vow_cancel_source_token(self->source);
        if (random_next(random) % 16 == 0) {
            reaction.on_rejected = pass;
            reaction.flags = VOW_FINALLY;
        }
        promise = vow_then_with(promise, &reaction);
        if (i == LINKS / 2 && random_next(random) % 4 == 0) {
            self->middle = vow_promise_retain(promise);
        }
    }
    self->end = promise;
    vow_promise_release(either_on(vow_executor_inline(), vow_promise_retain(promise), see, self));
}

static void *settle_all(void *context) {
    round_state *all = context;
    uint64_t random = random_seed(1);
    for (long round = 0; round < all->rounds; round++) {
        pthread_barrier_wait(&all->begin);
        for (int i = 0; i < TOGETHER; i++) {
            chain *self = &all->chains[i];
            random_pause(&random);
            if (random_next(&random) % 8 != 0) {
                vow_resolve(self->resolver, vow_int(round));
            }
            vow_resolver_release(self->resolver);
        }
        pthread_barrier_wait(&all->end);
    }
    return NULL;
}

static void *cancel_all(void *context) {
    round_state *all = context;
    uint64_t random = random_seed(2);
    for (long round = 0; round < all->rounds; round++) {
        pthread_barrier_wait(&all->begin);
        for (int i = 0; i < TOGETHER; i++) {
            chain *self = &all->chains[i];
            random_pause(&random);
            if (self->source != NULL && random_next(&random) % 2 == 0) {
                vow_cancel_source_cancel(self->source);
            } else if (random_next(&random) % 8 == 0) {
                vow_promise_release(vow_promise_retain(self->end));
            } else {
                vow_cancel(self->end);
            }
            if (self->middle != NULL) {
                vow_cancel(self->middle);
                vow_promise_release(self->middle);
            }
        }
        pthread_barrier_wait(&all->end);
    }
    return NULL;
}

TEST("G12: chains of ten links, cancelled at random moments: one outcome, one end for each "
     "context") {
    static round_state all;
    uint64_t random = random_seed(3);
    long chains = size_of_run("CANCEL_CHAINS", 100000);
    all.rounds = (chains + TOGETHER - 1) / TOGETHER;
    vow_on_unhandled(stress_ignore, NULL);
    executors[0] = vow_executor_inline();
    executors[1] = vow_executor_pool();
    executors[2] = vow_executor_serial("cancel race");
    executors[3] = vow_executor_inline();
    pthread_barrier_init(&all.begin, NULL, 3);
    pthread_barrier_init(&all.end, NULL, 3);
    pthread_t settler = start_thread(settle_all, &all);
    pthread_t canceller = start_thread(cancel_all, &all);
    for (long round = 0; round < all.rounds; round++) {
        for (int i = 0; i < TOGETHER; i++) {
            build(&all.chains[i], &random);
        }
        pthread_barrier_wait(&all.begin);
        pthread_barrier_wait(&all.end);
        for (int i = 0; i < TOGETHER; i++) {
            chain *self = &all.chains[i];
            vow_value out = vow_none();
            int state = vow_await(self->end, LONG_ENOUGH, &out);
            CHECK(state == (int)VOW_FULFILLED || state == (int)VOW_REJECTED);
            atomic_fetch_add(state == (int)VOW_FULFILLED ? &all.fulfilled : &all.cancelled, 1);
            vow_value_release(out);
            vow_promise_release(self->end);
            vow_cancel_source_release(self->source);
        }
        for (int i = 0; i < TOGETHER; i++) {
            chain *self = &all.chains[i];
            if (!CHECK(reaches(&self->ends, LINKS)) || !CHECK(reaches(&self->seen, 1)) ||
                !CHECK(reaches(&self->told_ends, 1))) {
                break;
            }
            CHECK_INT_EQ(atomic_load(&self->ends), LINKS);
            CHECK_INT_EQ(atomic_load(&self->seen), 1);
            CHECK(atomic_load(&self->told) <= 1);
            atomic_fetch_add(&all.told, atomic_load(&self->told));
        }
    }
    pthread_join(settler, NULL);
    pthread_join(canceller, NULL);
    printf("# %ld fulfilled, %ld rejected, %ld producers told\n", atomic_load(&all.fulfilled),
           atomic_load(&all.cancelled), atomic_load(&all.told));
    CHECK(atomic_load(&all.fulfilled) > 0);
    CHECK(atomic_load(&all.cancelled) > 0);
    CHECK(atomic_load(&all.told) > 0);
    vow_executor_release(executors[2]);
    pthread_barrier_destroy(&all.begin);
    pthread_barrier_destroy(&all.end);
    vow_on_unhandled(NULL, NULL);
}
