/* Threads make, chain, combine, settle, cancel, await and release promises while another switches
 * tracing on and off and a third writes graphs. Nothing may be left, and each file must be whole.
 * STORM_SECONDS in the environment: how long. */
#include "stress.h"

#include "../trace.h"

static atomic_bool is_over;
static atomic_long settled;
static atomic_long histories;
static atomic_long graphs;

static vow_value go_on(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static vow_value adopt(vow_value input, void *context) {
    (void)context;
    return vow_from_promise(vow_promise_with(vow_value_retain(input)));
}

static void hears(double fraction, const char *note, void *context) {
    (void)note;
    (void)context;
    CHECK(fraction >= 0 && fraction <= 1);
}

/* One way through the library, of several. */
static void one_round(uint64_t *random) {
    vow_resolver *resolvers[3];
    vow_promise *promises[3];
    for (int i = 0; i < 3; i++) {
        promises[i] = vow_promise_create(&resolvers[i]);
        if (random_next(random) % 2 == 0) {
            vow_promise_set_label(promises[i], "storm \"label\"");
        }
    }
    vow_promise *end = NULL;
    switch (random_next(random) % 6) {
    case 0:
        end = vow_all(promises, 3);
        break;
    case 1:
        end = vow_race(promises, 3);
        break;
    case 2:
        end = vow_any(promises, 3);
        break;
    default:
        end = then_inline(promises[0], adopt, NULL);
        end = then_on(vow_executor_pool(), end, go_on, NULL);
        vow_on_progress(promises[1], 0, hears, NULL, NULL);
        vow_resolver_set_progress(resolvers[1], 0.5, "half");
        vow_promise_release(then_on(vow_executor_pool(), promises[1], go_on, NULL));
        vow_promise_release(vow_timeout(promises[2], SECOND));
        break;
    }
    if (random_next(random) % 4 == 0) {
        vow_cancel(end);
    }
    for (int i = 0; i < 3; i++) {
        random_pause(random);
        vow_resolve(resolvers[i], vow_int(i));
        vow_resolver_release(resolvers[i]);
    }
    if (random_next(random) % 8 == 0) {
        code_of(end);
    } else {
        vow_promise_release(end);
    }
    atomic_fetch_add(&settled, 3);
}

static void *works(void *context) {
    uint64_t random = random_seed((int)(intptr_t)context);
    while (!atomic_load(&is_over)) {
        one_round(&random);
    }
    return NULL;
}

static void *draws(void *context) {
    int nowhere = open("/dev/null", O_WRONLY);
    while (!atomic_load(&is_over)) {
        int result = vow_graph_write(nowhere, atomic_load(&graphs) % 2 == 0 ? VOW_GRAPH_JSON
                                                                            : VOW_GRAPH_DOT);
        CHECK(result == 0 || result == VOW_EINVAL);
        atomic_fetch_add(&graphs, result == 0);
        usleep(500);
    }
    close(nowhere);
    return context;
}

/* Each line begins and ends an object, whoever wrote meanwhile. */
static void is_whole(const char *text) {
    size_t length = strlen(text);
    CHECK(length > 4 && strcmp(text + length - 4, "\n]}\n") == 0);
    const char *from = strchr(text, '\n');
    while (from != NULL && from[1] == '{') {
        const char *end = strchr(from + 1, '\n');
        CHECK(end != NULL && (end[-1] == '}' || (end[-1] == ',' && end[-2] == '}')));
        from = end;
    }
    CHECK(from != NULL && strcmp(from, "\n]}\n") == 0);
}

TEST("tracing may be switched on and off, and drawn, while others work") {
    enum { threads = 4 };
    int64_t end = now_ns() + size_of_run("STORM_SECONDS", slowness() > 1 ? 5 : 10) * SECOND;
    pthread_t running[threads];
    vow_on_unhandled(stress_ignore, NULL);
    for (int i = 0; i < threads; i++) {
        running[i] = start_thread(works, (void *)(intptr_t)i);
    }
    pthread_t drawing = start_thread(draws, NULL);
    for (int i = 0; now_ns() < end; i++) {
        if (i % 2 == 0) {
            vow_trace_stop();
            CHECK_INT_EQ(vow_trace_start(NULL), 0);
            usleep(3000);
            CHECK_INT_EQ(vow_trace_stop(), 0);
        } else {
            begin_trace();
            usleep(10000);
            char *text = end_trace();
            is_whole(text);
            free(text);
            atomic_fetch_add(&histories, 1);
        }
    }
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    atomic_store(&is_over, true);
    for (int i = 0; i < threads; i++) {
        pthread_join(running[i], NULL);
    }
    pthread_join(drawing, NULL);
    for (int tries = 0; tries < 2000; tries++) {
        char *json = graph(VOW_GRAPH_JSON);
        int left = COUNT(json, "\"state\":");
        bool is_clear = left == 0 && COUNT(json, "\"from\":") == 0;
        if (!is_clear && tries == 1999) {
            CHECK_INT_EQ(left, 0);
            printf("# %s\n", json);
        }
        free(json);
        if (is_clear) {
            break;
        }
        usleep(1000);
    }
    CHECK_INT_EQ(vow_trace_stop(), 0);
    vow_on_unhandled(NULL, NULL);
    CHECK(atomic_load(&settled) > 100 && atomic_load(&histories) > 2 && atomic_load(&graphs) > 2);
}
