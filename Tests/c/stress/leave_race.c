/* G12: functions are registered with tokens, linked tokens and resolvers, and leave, while other
 * threads cancel, resolve and let go: each is called or never is, as its handle says, and its
 * context is destroyed once. */
#include "stress.h"

#define TOGETHER 64

typedef struct registered {
    atomic_int runs, ends;
    bool was_never; /* by the one who had it leave */
    vow_registration *handle;
} registered;

typedef struct round {
    registered of[2][TOGETHER]; /* of the token, of the resolver */
    registered late[2][TOGETHER];
    vow_cancel_source *parent, *child;
    vow_token *token;
    vow_promise *promise;
    vow_resolver *resolver;
    pthread_barrier_t begin, end;
    long rounds;
} round_state;

static void called(void *context) {
    atomic_fetch_add(&((registered *)context)->runs, 1);
}

static void ended(void *context) {
    atomic_fetch_add(&((registered *)context)->ends, 1);
}

static void leaves(registered *it) {
    it->was_never = vow_registration_leave(it->handle) == VOW_NEVER_RUNS;
    if (it->was_never) {
        CHECK(atomic_load(&it->runs) == 0);
    }
}

static void *cancel_all(void *context) {
    round_state *all = context;
    uint64_t random = random_seed(1);
    for (long round = 0; round < all->rounds; round++) {
        pthread_barrier_wait(&all->begin);
        random_pause(&random);
        switch (random_next(&random) % 4) {
        case 0:
            vow_cancel_source_cancel(all->parent);
            vow_cancel(all->promise);
            break;
        case 1:
            vow_cancel_source_cancel(all->child);
            vow_resolve(all->resolver, vow_none());
            break;
        case 2:
            vow_resolve(all->resolver, vow_from_promise(vow_promise_with(vow_int(1))));
            break;
        default:
            break;
        }
        vow_cancel_source_release(all->parent);
        vow_cancel_source_release(all->child);
        vow_promise_release(all->promise);
        pthread_barrier_wait(&all->end);
    }
    return NULL;
}

static void *leave_all(void *context) {
    round_state *all = context;
    uint64_t random = random_seed(2);
    for (long round = 0; round < all->rounds; round++) {
        pthread_barrier_wait(&all->begin);
        random_pause(&random);
        for (int i = 0; i < TOGETHER; i++) {
            int place = i * 7 % TOGETHER;
            leaves(&all->of[random_next(&random) % 2][place]);
        }
        pthread_barrier_wait(&all->end);
    }
    return NULL;
}

static void *register_more(void *context) {
    round_state *all = context;
    uint64_t random = random_seed(3);
    for (long round = 0; round < all->rounds; round++) {
        pthread_barrier_wait(&all->begin);
        for (int i = 0; i < TOGETHER; i++) {
            registered *of_token = &all->late[0][i], *of_resolver = &all->late[1][i];
            CHECK(vow_token_register(all->token, called, of_token, ended, &of_token->handle) == 0);
            CHECK(vow_resolver_register(all->resolver, called, of_resolver, ended,
                                        &of_resolver->handle) == 0);
            if (random_next(&random) % 2 == 0) {
                leaves(of_token);
                leaves(of_resolver);
            }
        }
        random_pause(&random);
        vow_token_release(all->token);
        vow_resolver_release(all->resolver);
        pthread_barrier_wait(&all->end);
    }
    return NULL;
}

static void check(registered *it) {
    vow_stage stage = vow_registration_stage(it->handle);
    CHECK_INT_EQ(atomic_load(&it->ends), 1);
    CHECK(stage == VOW_HAS_RUN || stage == VOW_NEVER_RUNS);
    CHECK_INT_EQ(atomic_load(&it->runs), stage == VOW_HAS_RUN);
    CHECK(!it->was_never || stage == VOW_NEVER_RUNS);
    vow_registration_release(it->handle);
}

TEST("G12: what leaves while others cancel is called or never is, and destroyed once") {
    round_state *all = calloc(1, sizeof *all);
    pthread_t threads[3];
    all->rounds = size_of_run("LEAVE_ROUNDS", 3000);
    vow_on_unhandled(stress_ignore, NULL);
    pthread_barrier_init(&all->begin, NULL, 4);
    pthread_barrier_init(&all->end, NULL, 4);
    threads[0] = start_thread(cancel_all, all);
    threads[1] = start_thread(leave_all, all);
    threads[2] = start_thread(register_more, all);
    for (long round = 0; round < all->rounds; round++) {
        memset(all->of, 0, sizeof all->of);
        memset(all->late, 0, sizeof all->late);
        all->parent = vow_cancel_source_create();
        vow_token *token = vow_cancel_source_token(all->parent);
        all->child = vow_cancel_source_create_linked(&token, 1);
        all->token = vow_token_retain(vow_cancel_source_token(all->child));
        all->promise = vow_promise_create(&all->resolver);
        for (int i = 0; i < TOGETHER; i++) {
            registered *of_token = &all->of[0][i], *of_resolver = &all->of[1][i];
            CHECK(vow_token_register(all->token, called, of_token, ended, &of_token->handle) == 0);
            CHECK(vow_resolver_register(all->resolver, called, of_resolver, ended,
                                        &of_resolver->handle) == 0);
        }
        pthread_barrier_wait(&all->begin);
        pthread_barrier_wait(&all->end);
        for (int kind = 0; kind < 2; kind++) {
            for (int i = 0; i < TOGETHER; i++) {
                check(&all->of[kind][i]);
                check(&all->late[kind][i]);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    vow_on_unhandled(NULL, NULL);
    pthread_barrier_destroy(&all->begin);
    pthread_barrier_destroy(&all->end);
    free(all);
}
