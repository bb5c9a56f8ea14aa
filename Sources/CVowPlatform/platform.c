/* The storage and the once-only steps behind platform.h. */
#define _GNU_SOURCE /* syscall, process_vm_readv */
#include "platform.h"

#include <signal.h>
#include <sys/uio.h>

vow_static_storage vow_static;

int vow_platform_read(uint64_t address, void *copy, size_t size) {
    struct iovec to = {copy, size};
    struct iovec from = {(void *)(uintptr_t)address, size};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
}

void vow_platform_once(void (*start)(void)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

/* All signals but those that a thread brings on itself, and a profiler's; libdispatch's threads
 * block the same. */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPIPE, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        sigdelset(&blocked, own[i]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

int vow_platform_start_thread(void *(*work)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t before;
    int failed;
    if (pthread_attr_init(&attributes) != 0) {
        return 0;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    block_signals(&before);
    failed = pthread_create(&thread, &attributes, work, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed == 0;
}

void vow_platform_run_guarded(void (*work)(void *), void (*lost)(void *), void *context) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_push(lost, context);
    work(context);
    pthread_cleanup_pop(0);
}

void vow_platform_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

int vow_platform_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        return CPU_COUNT(&set);
    }
    /* More processors than the set has room for. */
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

#ifdef VOW_CHECKED
vow_freed *vow_platform_freed(void) {
    static vow_freed freed[VOW_FREED_COUNT];
    return freed;
}
#endif
