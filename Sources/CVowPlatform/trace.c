/* The system calls of tracing, behind trace.h. */
#define _GNU_SOURCE /* pthread_getname_np, program_invocation_short_name, secure_getenv */
#include "trace.h"
#include "copies.h"

#include "platform.h"

#ifdef VOW_CHECKED
enum { record_size = 72, box_size = 24, is_checked = 1 };
#else
enum { record_size = 40, box_size = 16, is_checked = 0 };
#endif

/* `used` keeps it although only debuggers look for some of it. */
__attribute__((used, section("vow_trace_view"))) vow_trace_view vow_platform_trace_view = {
    .version = 4,
    .entry_size = sizeof(vow_trace_entry),
    .record_size = record_size,
    .box_size = box_size,
    .is_checked = is_checked,
    .copy = vow_copy_place,
};

void vow_platform_show_trace(vow_trace_entry *entries, uint64_t capacity, uint64_t count) {
    vow_platform_trace_view.entries = entries;
    vow_platform_trace_view.capacity = capacity;
    vow_platform_trace_view.count = count;
}

/* Of forks, this process's included. */
static int generation = 1;
static int32_t process_number;

void vow_platform_forget_numbers(void) {
    generation++;
    process_number = 0;
}

int32_t vow_platform_process_number(void) {
    if (process_number == 0) {
        process_number = (int32_t)getpid();
    }
    return process_number;
}

int32_t vow_platform_thread_number(void) {
    static _Thread_local int32_t number;
    static _Thread_local int known;
    /* A forked child's thread has another one. */
    if (known != generation) {
        known = generation;
        number = (int32_t)syscall(SYS_gettid);
    }
    return number;
}

void vow_platform_thread_name(char *buffer) {
    if (pthread_getname_np(pthread_self(), buffer, 16) != 0) {
        buffer[0] = 0;
    }
}

int vow_platform_is_new_thread(uint32_t round) {
    static _Thread_local uint32_t last;
    if (last == round) {
        return 0;
    }
    last = round;
    return 1;
}

const char *vow_platform_program(void) {
    return program_invocation_short_name;
}

const char *vow_platform_environment(const char *name) {
    return secure_getenv(name);
}

static void (*leaving)(void);

static void register_leaving(void) {
    /* If this fails, the end of the trace is missing. */
    (void)atexit(leaving);
}

void vow_platform_at_exit(void (*leave)(void)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    leaving = leave;
    pthread_once(&once, register_leaving);
}
