/* The system calls behind writing.h. */
#define _GNU_SOURCE /* sigtimedwait, the strerror_r that gives a text */
#include "writing.h"

#include "platform.h"

#include <poll.h>
#include <signal.h>

/* For the writing thread, a write to a pipe without a reader raises SIGPIPE, a write beyond the
 * limit of a file's size SIGXFSZ. Both end a program that has not asked for them. So they are
 * blocked meanwhile, and new ones are taken away. Signals that were pending before are the
 * program's, which had blocked them. */
typedef struct quiet {
    sigset_t ours; /* blocked, and not pending before */
    sigset_t before;
    int cancel;
    int error;
} quiet;

static void begin_quiet(quiet *self) {
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    sigset_t both;
    sigset_t pending;
    self->error = errno;
    self->cancel = vow_platform_hold_cancel();
    sigemptyset(&both);
    sigemptyset(&pending);
    sigaddset(&both, SIGPIPE);
    sigaddset(&both, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &both, &self->before);
    if (sigismember(&self->before, SIGPIPE) || sigismember(&self->before, SIGXFSZ)) {
        sigpending(&pending);
    }
    sigemptyset(&self->ours);
    for (int i = 0; i < 2; i++) {
        if (!sigismember(&pending, signals[i])) {
            sigaddset(&self->ours, signals[i]);
        }
    }
}

/* Leaves errno as it was. */
static void end_quiet(const quiet *self, int may_have_raised) {
    static const struct timespec at_once = {0, 0};
    while (may_have_raised && (sigtimedwait(&self->ours, NULL, &at_once) > 0 || errno == EINTR)) {
    }
    pthread_sigmask(SIG_SETMASK, &self->before, NULL);
    vow_platform_let_cancel(self->cancel);
    errno = self->error;
}

size_t vow_platform_write_some(int fd, const void *bytes, size_t count, int *error) {
    const char *from = bytes;
    size_t done = 0;
    quiet here;
    *error = 0;
    begin_quiet(&here);
    while (done < count && *error == 0) {
        ssize_t written = write(fd, from + done, count - done);
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0) {
            *error = EIO;
        } else if (errno != EINTR) {
            *error = errno;
        }
    }
    end_quiet(&here, *error != 0 && *error != EAGAIN);
    return done;
}

int vow_platform_write(int fd, const void *bytes, size_t count) {
    int error;
    if (vow_platform_write_some(fd, bytes, count, &error) == count) {
        return 1;
    }
    errno = error;
    return 0;
}

int vow_platform_takes_line(int fd, int milliseconds) {
    struct pollfd entry = {fd, POLLOUT, 0};
    int cancel = vow_platform_hold_cancel();
    int ready = poll(&entry, 1, milliseconds);
    vow_platform_let_cancel(cancel);
    /* A broken descriptor says so at once. */
    return ready > 0;
}

void vow_platform_describe_error(int error, char *buffer, size_t size) {
    const char *text = strerror_r(error, buffer, size);
    if (text != buffer) {
        snprintf(buffer, size, "%s", text);
    }
}
