/* Tests the tables of listeners and of executors on queues, while threads make them grow and shrink
 * at once. */
#include "../dispatch.h"
#include "../tools.h"

enum { THREADS = 4, MOST = 500 };

static void hear(double fraction, const char *note, void *context) {
    (void)fraction;
    (void)note;
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

/* More and fewer, so that buckets come and go in each round. */
static void *listen_to_many(void *context) {
    counter *all = context;
    vow_promise *promises[MOST];
    vow_resolver *resolvers[MOST];
    for (int round = 0; round < many_of(40, 1000); round++) {
        int count = 1 + round * 37 % MOST;
        counter ears = {0};
        for (int i = 0; i < count; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
            CHECK_INT_EQ(vow_on_progress(promises[i], 0, hear, &ears, counter_end), 0);
        }
        for (int i = 0; i < count; i++) {
            CHECK_INT_EQ(vow_resolver_set_progress(resolvers[i], 0.5, NULL), 0);
            vow_resolve(resolvers[i], vow_none());
            vow_resolver_release(resolvers[i]);
            vow_promise_release(promises[i]);
        }
        CHECK_INT_EQ(atomic_load(&ears.runs), count);
        CHECK_INT_EQ(atomic_load(&ears.ends), count);
        atomic_fetch_add(&all->runs, 1);
    }
    return NULL;
}

TEST("threads that listen to many promises at once are each told of theirs") {
    counter all = {0};
    pthread_t threads[THREADS];
    vow_executor_set_default(vow_executor_inline());
    for (int i = 0; i < THREADS; i++) {
        threads[i] = start_thread(listen_to_many, &all);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vow_executor_set_default(NULL);
    CHECK_INT_EQ(atomic_load(&all.runs), THREADS * many_of(40, 1000));
}

static void *queues[MOST];

/* Each thread asks for an executor on each queue, from a place of its own on, and finds the one
 * that is there. */
static void *find_executors(void *context) {
    int first = *(int *)context;
    vow_executor *executors[MOST];
    for (int round = 0; round < many_of(40, 1000); round++) {
        int count = 1 + (round * 37 + first) % MOST;
        for (int i = 0; i < count; i++) {
            executors[i] = vow_executor_dispatch(queues[(first + i) % MOST], VOW_SERIAL);
        }
        for (int i = 0; i < count; i++) {
            vow_executor *again = vow_executor_dispatch(queues[(first + i) % MOST], VOW_SERIAL);
            CHECK(again == executors[i]);
            vow_executor_release(again);
        }
        for (int i = 0; i < count; i++) {
            vow_executor_release(executors[i]);
        }
    }
    return NULL;
}

TEST("threads that ask for executors on the same queues at once get one for each queue") {
    pthread_t threads[THREADS];
    int firsts[THREADS];
    for (int i = 0; i < MOST; i++) {
        queues[i] = dispatch_queue_create("table", QUEUE_SERIAL);
    }
    for (int i = 0; i < THREADS; i++) {
        firsts[i] = i * MOST / THREADS;
        threads[i] = start_thread(find_executors, &firsts[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < MOST; i++) {
        dispatch_release(queues[i]);
    }
}
