/* Tests executors on queues in a process without libdispatch, into which it is loaded later, for
 * one object alone. */
#include "../worker.h"
#include <dlfcn.h>

static bool has_library(void) {
    void *library = dlopen("libdispatch.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) {
        dlclose(library);
    }
    return library != NULL;
}

/* First, for the next one loads it. */
TEST("without libdispatch there is no executor on a queue, and work for the main executor is "
     "rejected") {
    int no_queue = 0;
    CHECK(!has_library());
    CHECK(vow_executor_dispatch(&no_queue, 0) == NULL);
    CHECK(vow_executor_dispatch(&no_queue, VOW_SERIAL) == NULL);
    counter context = {0};
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = add_one,
                             .context = &context,
                             .destroy = counter_end,
                             .executor = vow_executor_main()};
    for (int round = 1; round <= 3; round++) {
        CHECK_INT_EQ(code_of(vow_then_with(fulfilled_int(1), &reaction)), VOW_ESHUTDOWN);
        CHECK_INT_EQ(atomic_load(&context.ends), round);
    }
    CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), add_one, NULL)), 1);
    CHECK(!has_library());
}

TEST("a libdispatch that is loaded later, for one object alone, is used") {
    void *library = dlopen(getenv("VOW_TEST_DISPATCH"), RTLD_LAZY | RTLD_LOCAL);
    CHECK(library != NULL);
    CHECK(dlsym(RTLD_DEFAULT, "dispatch_async_f") == NULL);
    void *(*make)(const char *, void *);
    *(void **)&make = dlsym(library, "dispatch_queue_create");
    void *queue = make("vow.late", NULL);
    vow_executor *executor = vow_executor_dispatch(queue, VOW_SERIAL);
    CHECK(executor != NULL);
    CHECK_INT_EQ(int_of(vow_async(executor, add_one, NULL)), 1);
    vow_executor_release(executor);
    void (*let_go)(void *);
    *(void **)&let_go = dlsym(library, "dispatch_release");
    let_go(queue);
}
