/* The switch beneath a fiber of Vow, without the promise: the core's stacks.c alone. */
#include "platform.h"
#include "stacks.h"
#include "workload.h"

static vow_stack *stack;
static size_t entered;

static void leave_again(void *context) {
    (void)context;
    for (;;) {
        entered++;
        vow_platform_leave_stack(stack, 0);
    }
}

/* An item is one way. */
static void pass(size_t n) {
    if (stack == NULL) {
        vow_platform_open_thread(malloc(sizeof(vow_thread_storage)));
        stack = vow_platform_take_stack(65536);
        EXPECT(stack != NULL);
        vow_platform_begin_stack(stack, leave_again, NULL);
    }
    size_t before = entered;
    for (size_t i = 0; i < n / 2; i++) {
        vow_platform_enter_stack(stack);
    }
    EXPECT(entered == before + n / 2);
}

int main(int argc, char **argv) {
    static const workload workloads[] = {{"switch", pass}, {NULL, NULL}};
    return run_workload(argc, argv, workloads);
}
