/* What tracing asks of the system, behind trace.h. */
#define _GNU_SOURCE /* pthread_getname_np, program_invocation_short_name, secure_getenv */
#include "trace.h"

#include "platform.h"

#include <fcntl.h>

#ifdef VOW_CHECKED
enum { record_size = 56, box_size = 24, is_checked = 1 };
#else
enum { record_size = 40, box_size = 16, is_checked = 0 };
#endif

/* `used` keeps it although only debuggers look for some of it. */
__attribute__((used, section("vow_trace_view"))) vow_trace_view vow_platform_trace_view = {
    .version = 1,
    .entry_size = sizeof(vow_trace_entry),
    .record_size = record_size,
    .box_size = box_size,
    .is_checked = is_checked,
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

int vow_platform_create_file(const char *path) {
    char full[4096];
    const char *mark = strstr(path, "%p");
    int length = mark == NULL ? snprintf(full, sizeof full, "%s", path)
                              : snprintf(full, sizeof full, "%.*s%ld%s", (int)(mark - path), path,
                                         (long)getpid(), mark + 2);
    if (length < 0 || (size_t)length >= sizeof full) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int cancel = vow_platform_hold_cancel();
    int file = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    vow_platform_let_cancel(cancel);
    return file;
}

static int write_all(int fd, const char *from, size_t count) {
    while (count > 0) {
        ssize_t written = write(fd, from, count);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return 0;
        }
        from += written;
        count -= (size_t)written;
    }
    return 1;
}

int vow_platform_write(int fd, const void *bytes, size_t count) {
    /* A thread that is cancelled here would keep the tracing's lock. */
    int cancel = vow_platform_hold_cancel();
    int is_written = write_all(fd, bytes, count);
    vow_platform_let_cancel(cancel);
    return is_written;
}

void vow_platform_error(char *buffer, size_t size) {
    const char *text = strerror_r(errno, buffer, size);
    if (text != buffer) {
        snprintf(buffer, size, "%s", text);
    }
}

static void (*leaving)(void);

static void register_leaving(void) {
    /* Where that fails the end of the trace is missing. */
    (void)atexit(leaving);
}

void vow_platform_at_exit(void (*leave)(void)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    leaving = leave;
    pthread_once(&once, register_leaving);
}
