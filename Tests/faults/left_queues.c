/* Tests that an exception that leaves a handler on a dispatch queue ends the process, as elsewhere.
 */
#include "../c/dispatch.h"
#include "child.h"

#include <unwind.h>

static struct _Unwind_Exception thrown = {.exception_class = 0x564f575445535400};

static vow_value throws(vow_value input, void *context) {
    (void)input;
    (void)context;
    _Unwind_RaiseException(&thrown);
    return vow_none();
}

static void throw_on_queue(void) {
    void *queue = dispatch_queue_create("vow.test", QUEUE_SERIAL);
    vow_await(vow_async(vow_executor_dispatch(queue, 0), throws, NULL), LONG_ENOUGH, NULL);
}

static void throw_on_concurrent_queue(void) {
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_await(vow_async(vow_executor_dispatch(queue, VOW_BARRIER), throws, NULL), LONG_ENOUGH,
              NULL);
}

static void throw_on_main(void) {
    vow_promise_release(vow_async(vow_executor_main(), throws, NULL));
    _dispatch_main_queue_callback_4CF(NULL);
}

static const part parts[] = {
    {"queue", throw_on_queue},
    {"concurrent queue", throw_on_concurrent_queue},
    {"main queue", throw_on_main},
};

TEST("an exception that leaves a handler on a dispatch queue ends the process with a sentence") {
    check_ends("queue", "vow: an exception left a handler");
    check_ends("concurrent queue", "vow: an exception left a handler");
}

TEST("so does one on the main executor") {
    check_ends("main queue", "vow: an exception left a handler");
}

int main(int count, char **arguments) {
    return run_part_or_tests(parts, sizeof parts / sizeof *parts, count > 1 ? arguments[1] : NULL);
}
