/* Tests that tracing asks the loader for names without a lock of its own: whoever loads a library
 * has the loader's lock, which dladdr takes, and may come to this library from a constructor. */
#include "trace.h"

#include <dlfcn.h>

static atomic_int asked;
static atomic_int made_meanwhile;
static __thread bool is_asking;

static void *makes_promises(void *context) {
    is_asking = true;
    int_of(then_inline(fulfilled_int(1), add_one, NULL));
    atomic_store(&made_meanwhile, 1);
    return context;
}

/* In place of the loader's: another thread has to get through meanwhile. */
int dladdr(const void *address, Dl_info *info) {
    (void)address;
    memset(info, 0, sizeof *info);
    if (!is_asking) {
        atomic_fetch_add(&asked, 1);
        atomic_store(&made_meanwhile, 0);
        pthread_t thread = start_thread(makes_promises, NULL);
        int64_t limit = now_ns() + LONG_ENOUGH;
        while (atomic_load(&made_meanwhile) == 0 && now_ns() < limit) {
            usleep(200);
        }
        CHECK_INT_EQ(atomic_load(&made_meanwhile), 1);
        if (atomic_load(&made_meanwhile) == 0) {
            pthread_detach(thread);
        } else {
            pthread_join(thread, NULL);
        }
    }
    return 0;
}

TEST("the loader is asked once for each site, and without a lock") {
    begin_trace();
    vow_resolver *resolver = NULL;
    for (int i = 0; i < 10; i++) {
        vow_promise *promise = vow_promise_create(&resolver);
        vow_promise_set_label(promise, "labelled");
        free(graph(VOW_GRAPH_JSON));
        free(graph(VOW_GRAPH_DOT));
        vow_resolve(resolver, vow_int(i));
        vow_resolver_release(resolver);
        vow_promise_release(promise);
    }
    char *text = end_trace();
    CHECK_INT_EQ(atomic_load(&asked), 1);
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"b\"", "labelled", "\"site\":\"trace_loader+0x"), 10);
    free(text);
}
