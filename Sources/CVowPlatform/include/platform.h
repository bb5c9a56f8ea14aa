/* The core's needs of the platform that Swift cannot express: a thread-local, a variadic system
 * call, a variadic format, a processor hint. Nothing here knows promises. */
#ifndef VOW_PLATFORM_H
#define VOW_PLATFORM_H

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The storage of a thread. It takes one pointer of static TLS, which is scarce in libraries that
 * are loaded late: one load, no call. NULL until vow_platform_open_thread. */
#define VOW_THREAD_STORAGE_SIZE 528
typedef struct vow_thread_storage {
    _Alignas(16) unsigned char bytes[VOW_THREAD_STORAGE_SIZE];
    /* The stack that the thread is on, and where the last part of it begins; 0 until it is asked
     * for. */
    uintptr_t lower, upper, limit;
    /* The fiber's stack that the thread is on, and the stack for signals that it was given. */
    const struct vow_stack *stack;
    void *alternate;
    int has_alternate;
    /* Called when the thread ends. */
    void (*leave)(void);
} vow_thread_storage;
extern _Thread_local vow_thread_storage *vow_thread
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

static inline void *vow_platform_thread(void) {
    return vow_thread;
}

/* Makes memory of a vow_thread_storage's size the calling thread's storage, zeroes. NULL: the
 * thread gets a place of the reserve; if all of those are taken the process ends. */
__attribute__((visibility("hidden"))) void *vow_platform_open_thread(void *memory);

/* Takes the calling thread's storage. Returns the memory; NULL: it was the reserve's. */
__attribute__((visibility("hidden"))) void *vow_platform_close_thread(void);

/* Zero-initialised storage of the process, for objects that must exist without being allocated. */
#define VOW_STATIC_STORAGE_SIZE 14336
typedef struct vow_static_storage {
    _Alignas(64) unsigned char bytes[VOW_STATIC_STORAGE_SIZE];
} vow_static_storage;
extern vow_static_storage vow_static __attribute__((visibility("hidden")));

static inline void *vow_platform_static(void) {
    return vow_static.bytes;
}

/* Memory that a checked build has freed and not yet given back; other builds have none. */
#define VOW_FREED_COUNT 65536
typedef struct vow_freed {
    void *memory;
    intptr_t size;
} vow_freed;
__attribute__((visibility("hidden"))) vow_freed *vow_platform_freed(void);

/* Copies memory at an address. Returns 0 if there is none, or the system does not say. */
__attribute__((visibility("hidden"))) int vow_platform_read(uint64_t address, void *copy,
                                                            size_t size);

/* Runs start() once in the process; every caller returns after it has run. */
__attribute__((visibility("hidden"))) void vow_platform_once(void (*start)(void));

/* Makes leave() run on the calling thread when it exits; may be called again from leave(). False
 * when there is no memory for that. */
__attribute__((visibility("hidden"))) int vow_platform_at_thread_exit(void (*leave)(void));

#ifdef VOW_SCHEDULES
/* Defined by the scheduler in Tests/schedules, which decides here which thread goes on. The first
 * four are the steps of AtomicWord and AtomicMark, taken after the call; see there. */
#define VOW_STEP_READ 0
#define VOW_STEP_WRITE 1
#define VOW_STEP_CHANGE 2
#define VOW_STEP_OWN 3
/* A spin: another thread must do something first. */
#define VOW_STEP_PAUSE 4
#define VOW_STEP_WAKE 5
void vow_schedule_point(int step, const void *address);
/* As vow_platform_wait. The scheduler chooses when a deadline passes. */
int vow_schedule_sleep(const void *word, uint32_t expected, int has_deadline);
#endif

/* Sleeps while *word == expected, until a wake or the absolute CLOCK_MONOTONIC deadline (NULL: for
 * ever). False when the deadline has passed. May wake for no reason. */
static inline int vow_platform_wait(const void *word, uint32_t expected,
                                    const struct timespec *deadline) {
#ifdef VOW_SCHEDULES
    return vow_schedule_sleep(word, expected, deadline != NULL);
#else
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                          deadline, NULL, FUTEX_BITSET_MATCH_ANY);
    return !(result == -1 && errno == ETIMEDOUT);
#endif
}

static inline void vow_platform_wake(const void *word) {
#ifdef VOW_SCHEDULES
    vow_schedule_point(VOW_STEP_WAKE, word);
#else
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
#endif
}

/* Keeps the compiler from moving anything across. */
static inline void vow_platform_order_for_compiler(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Tells the processor that this is a spin. */
static inline void vow_platform_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

static inline int vow_platform_format_double(char *buffer, size_t size, double real) {
    return snprintf(buffer, size, "%.17g", real);
}

/* From here to vow_platform_let_cancel no call is a cancellation point of the calling thread: the
 * thread may own memory that no other code would give back. */
static inline int vow_platform_hold_cancel(void) {
    int before = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* - Parameter: the result of vow_platform_hold_cancel. */
static inline void vow_platform_let_cancel(int before) {
    pthread_setcancelstate(before, NULL);
}

/* Sleeps for so many nanoseconds, or less. */
static inline void vow_platform_pause(int64_t nanoseconds) {
    struct timespec time = {0, nanoseconds};
    int cancel = vow_platform_hold_cancel();
    nanosleep(&time, NULL);
    vow_platform_let_cancel(cancel);
}

/* close, which is no cancellation point. */
static inline void vow_platform_close(int descriptor) {
    int cancel = vow_platform_hold_cancel();
    close(descriptor);
    vow_platform_let_cancel(cancel);
}

static inline int vow_platform_is_main_thread(void) {
    return getpid() == (pid_t)syscall(SYS_gettid);
}

/* Gives the free memory of malloc back to the system, where the C library can. */
extern int malloc_trim(size_t padding) __attribute__((weak));
static inline void vow_platform_trim_heap(void) {
    if (malloc_trim != NULL) {
        (void)malloc_trim(0);
    }
}

/* Whether the calling thread has stack to spare: a quarter of it, 128 KiB at most. */
__attribute__((visibility("hidden"))) int vow_platform_has_stack_left(void);

/* Whether the calling thread is known to have so many bytes of stack left. */
__attribute__((visibility("hidden"))) int vow_platform_has_stack_for(size_t size);

/* Whether this place on the calling thread's own stack belongs to a function that is gone. */
__attribute__((visibility("hidden"))) int vow_platform_is_left(const void *place);

/* From now on a thread may end inside a handler: its state stays as it is. */
__attribute__((visibility("hidden"))) void vow_platform_let_threads_end(void);

/* Whether the process has libdispatch: see queues.c. The functions below are for processes that
 * have it; the main queue is NULL in others. */
__attribute__((visibility("hidden"))) int vow_platform_has_queues(void);
__attribute__((visibility("hidden"))) void *vow_platform_main_queue(void);
__attribute__((visibility("hidden"))) void vow_platform_retain_queue(void *queue);
__attribute__((visibility("hidden"))) void vow_platform_release_queue(void *queue);
__attribute__((visibility("hidden"))) const char *vow_platform_queue_label(void *queue);
__attribute__((visibility("hidden"))) void vow_platform_submit(void *queue, void *context,
                                                               void (*work)(void *context));
__attribute__((visibility("hidden"))) void vow_platform_submit_barrier(void *queue, void *context,
                                                                       void (*work)(void *context));

/* Runs work(context) on a new, detached thread. The program's threads take the signals of the
 * process: only signals that a thread brings on itself, and a profiler's, come to this one. False
 * when the system gives no thread. */
__attribute__((visibility("hidden"))) int vow_platform_start_thread(void *(*work)(void *),
                                                                    void *context);

/* Runs work(context), and lost(context) if the thread leaves work by pthread_exit. The thread
 * cannot be cancelled. */
__attribute__((visibility("hidden"))) void
vow_platform_run_guarded(void (*work)(void *), void (*lost)(void *), void *context);

/* Sets the calling thread's name in debuggers and `top`. */
__attribute__((visibility("hidden"))) void vow_platform_name_thread(const char *name);

/* The number of processors that the process may use; at least 1. */
__attribute__((visibility("hidden"))) int vow_platform_processors(void);

/* The clock of the calling thread's processor time, for vow_platform_time_of. It may be read as
 * long as the thread is there. */
static inline clockid_t vow_platform_own_clock(void) {
    clockid_t clock = CLOCK_MONOTONIC;
    pthread_getcpuclockid(pthread_self(), &clock);
    return clock;
}

static inline int64_t vow_platform_time_of(clockid_t clock) {
    struct timespec time = {0, 0};
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#endif
