/* Stacks for fibers, and the switch from one to another. */
#ifndef VOW_STACKS_H
#define VOW_STACKS_H

#include <stddef.h>
#include <stdint.h>

/* A stack that code runs on, or that waits to run on: a fiber's, at whose upper end this record is,
 * or a thread's own, while it runs a fiber: then the record is on that stack. */
typedef struct vow_stack {
    /* The stack pointer, while the stack is left. */
    void *pointer;
    /* The bounds and the size of a fiber's stack. */
    uintptr_t lower, upper;
    size_t size;
    /* The next one of the pool, or the stack that this one was entered from. */
    struct vow_stack *next;
    /* A record of the entering stack: the fiber whose stack that is; NULL: a thread's own. */
    const struct vow_stack *outer;
    /* The bounds that the thread's storage had, while the stack is left. */
    uintptr_t bounds[3];
    /* The C++ runtime's exceptions that are being handled on this stack. */
    void *caught;
    unsigned int uncaught;
    /* The names that the tools have for this stack. */
    unsigned int valgrind;
    void *fake, *thread;
    const void *bottom;
    size_t extent;
    /* The function of a fiber's stack; NULL: this is the record of the stack that enters it. */
    void (*work)(void *context);
    void *context;
    /* The statistics have seen how much of the stack was used, since it came to the pool. */
    int is_measured;
    /* Names the fiber if the stack overflows; NULL: it has no label. */
    const char *label;
} vow_stack;

/* A stack with room for `size` bytes at least, from the pool if one is there. NULL: no memory, or
 * the process has a shadow stack, which a switch would break. */
__attribute__((visibility("hidden"))) vow_stack *vow_platform_take_stack(size_t size);

/* The size of the stack of the program's threads. */
__attribute__((visibility("hidden"))) size_t vow_platform_usual_stack_size(void);

/* Gives a stack back that is not entered any more. */
__attribute__((visibility("hidden"))) void vow_platform_give_stack(vow_stack *stack);

/* Calls work(context) on a stack that was just taken; work never returns, but leaves. Returns when
 * the stack is left. */
__attribute__((visibility("hidden"))) void
vow_platform_begin_stack(vow_stack *stack, void (*work)(void *), void *context);

/* Enters a stack that was left, from any thread. Returns when it is left again. */
__attribute__((visibility("hidden"))) void vow_platform_enter_stack(vow_stack *stack);

/* Leaves a stack for the one that it was entered from. Returns when it is entered again, perhaps on
 * another thread; never after the last time. */
__attribute__((visibility("hidden"))) void vow_platform_leave_stack(vow_stack *stack, int is_last);

/* The calling thread's storage, anew: no compiler keeps it across a call that may switch threads.
 */
__attribute__((visibility("hidden"))) void *vow_platform_thread_now(void);

/* Gives the memory of the stacks in the pool back to the system. */
__attribute__((visibility("hidden"))) void vow_platform_trim_stacks(void);

/* How many stacks are taken, and the most bytes that a stack had used when it came to the pool. */
__attribute__((visibility("hidden"))) void vow_platform_count_stacks(uint64_t *count,
                                                                     uint64_t *deepest);

/* Ends the stack for signals that a thread was given, at the thread's end. */
__attribute__((visibility("hidden"))) void vow_platform_end_alternate_stack(void *memory);

__attribute__((visibility("hidden"))) void vow_platform_lock_stacks(void);
__attribute__((visibility("hidden"))) void vow_platform_unlock_stacks(void);

#endif
