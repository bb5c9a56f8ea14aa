/* A million promises as one, and a million items mapped eight at a time: memory and stack. */
#include "stress.h"

static long many(void) {
    return size_of_run("MANY", 1000000) / slowness();
}

static void *settle_every_other(void *context) {
    vow_resolver **resolvers = context;
    for (; *resolvers != NULL; resolvers += 2) {
        vow_resolve(*resolvers, vow_int(1));
    }
    return NULL;
}

TEST("vow_all of a million promises, settled by two threads") {
    size_t count = ((size_t)many() | 1) + 1;
    vow_promise **promises = malloc(sizeof(vow_promise *) * count);
    vow_resolver **resolvers = calloc(count + 2, sizeof(vow_resolver *));
    for (int way = 0; way < 3; way++) {
        for (size_t i = 0; i < count; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
        }
        int64_t begin = now_ns();
        vow_promise *all = vow_all(promises, count);
        int64_t made = now_ns();
        if (way == 0) {
            pthread_t other = start_thread(settle_every_other, resolvers + 1);
            settle_every_other(resolvers);
            pthread_join(other, NULL);
            vow_value out = vow_none();
            CHECK_INT_EQ(vow_await(all, LONG_ENOUGH, &out), VOW_FULFILLED);
            CHECK_INT_EQ(vow_list_count(out), count);
            vow_value_release(out);
        } else if (way == 1) {
            vow_reject(resolvers[count / 2], vow_error("test", 1, "one"));
            CHECK_INT_EQ(code_of(vow_promise_retain(all)), 1);
        } else {
            CHECK(vow_cancel(all));
        }
        vow_promise_release(all);
        printf("# %zu promises: made in %lld ms, the rest in %lld ms\n", count,
               (long long)((made - begin) / MILLISECOND),
               (long long)((now_ns() - made) / MILLISECOND));
        for (size_t i = 0; i < count; i++) {
            vow_resolver_release(resolvers[i]);
        }
    }
    free(promises);
    free(resolvers);
}

static vow_statistics begun;
static atomic_llong most_bytes;

static vow_value plus_one(vow_value input, void *context) {
    (void)context;
    if (input.as.integer % 1000 == 0) {
        long long now = (long long)(harness_stats().bytes - begun.bytes);
        long long most = atomic_load(&most_bytes);
        while (now > most && !atomic_compare_exchange_weak(&most_bytes, &most, now)) {
        }
    }
    return vow_int(input.as.integer + 1);
}

static vow_value plus_one_later(vow_value input, void *context) {
    return vow_from_promise(vow_promise_with(plus_one(input, context)));
}

TEST("a million items mapped eight at a time take their results and eight pieces of work") {
    size_t count = (size_t)many();
    vow_value *items = malloc(sizeof(vow_value) * count);
    for (size_t i = 0; i < count; i++) {
        items[i] = vow_int((int64_t)i);
    }
    for (int way = 0; way < 4; way++) {
        vow_handler fn = way % 2 ? plus_one_later : plus_one;
        if (way >= 2) {
            vow_executor_set_default(vow_executor_inline());
        }
        vow_value list = vow_list(items, count);
        begun = harness_stats();
        atomic_store(&most_bytes, 0);
        int64_t begin = now_ns();
        vow_promise *map = vow_map(list, fn, NULL, 8);
        vow_value out = vow_none();
        CHECK_INT_EQ(vow_await(map, VOW_FOREVER, &out), VOW_FULFILLED);
        CHECK_INT_EQ(vow_list_at(out, count - 1).as.integer, count);
        long long beside = atomic_load(&most_bytes) - (long long)(count * sizeof(vow_value));
        printf("# %s, %s: %lld ms, at most %lld bytes beside the results\n",
               way >= 2 ? "inline" : "pool", way % 2 ? "promises" : "values",
               (long long)((now_ns() - begin) / MILLISECOND), beside);
        CHECK(beside < 64 * 1024);
        vow_value_release(out);
        vow_promise_release(map);
        vow_executor_set_default(NULL);
    }
    free(items);
}

static bool until_limit(vow_value state, void *context) {
    return state.as.integer < *(int64_t *)context;
}

TEST("a loop of a million steps takes constant memory") {
    int64_t limit = many();
    begun = harness_stats();
    for (int way = 0; way < 2; way++) {
        atomic_store(&most_bytes, 0);
        vow_promise *loop =
            vow_repeat(vow_int(0), until_limit, way ? plus_one_later : plus_one, &limit);
        vow_value out = vow_none();
        CHECK_INT_EQ(vow_await(loop, VOW_FOREVER, &out), VOW_FULFILLED);
        CHECK_INT_EQ(out.as.integer, limit);
        CHECK(atomic_load(&most_bytes) < 8192);
        vow_promise_release(loop);
    }
}
