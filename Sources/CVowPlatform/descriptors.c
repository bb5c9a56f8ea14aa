/* The system calls behind descriptors.h. */
#define _GNU_SOURCE /* ppoll, EPOLLRDHUP */
#include "descriptors.h"

#include "platform.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

/* The numbers of vow.h, which has their meaning. */
#define READ_BIT 1u
#define WRITE_BIT 2u

#define NANOSECONDS 1000000000

int vow_platform_make_event(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/* Raising and lowering are done under locks, and in signal handlers: the plain system calls are no
 * cancellation points. */
void vow_platform_raise(int event) {
    int before = errno;
    uint64_t one = 1;
    /* The write fails only if the event is raised already, countless times. */
    ssize_t written = syscall(SYS_write, event, &one, sizeof one);
    (void)written;
    errno = before;
}

void vow_platform_lower(int event) {
    uint64_t count;
    ssize_t got = syscall(SYS_read, event, &count, sizeof count);
    (void)got;
}

int vow_platform_make_timer(void) {
    return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

void vow_platform_set_timer(int timer, int64_t nanoseconds) {
    struct itimerspec time = {{0, 0}, {0, 0}};
    time.it_value.tv_sec = (time_t)(nanoseconds / NANOSECONDS);
    time.it_value.tv_nsec = (long)(nanoseconds % NANOSECONDS);
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

int vow_platform_make_set(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

static struct epoll_event interest(int descriptor, uint32_t events) {
    struct epoll_event event = {0};
    event.data.fd = descriptor;
    if (events & READ_BIT) {
        event.events |= EPOLLIN | EPOLLRDHUP;
    }
    if (events & WRITE_BIT) {
        event.events |= EPOLLOUT;
    }
    return event;
}

int vow_platform_watch(int set, int descriptor, uint32_t events) {
    struct epoll_event event = interest(descriptor, events);
    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0) {
        return 0;
    }
    if (errno == EEXIST && epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event) == 0) {
        return 0;
    }
    return errno;
}

int vow_platform_change_watch(int set, int descriptor, uint32_t events) {
    struct epoll_event event = interest(descriptor, events);
    if (events == 0) {
        return epoll_ctl(set, EPOLL_CTL_DEL, descriptor, &event) == 0 ? 0 : errno;
    }
    return epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event) == 0 ? 0 : errno;
}

int vow_platform_look(int set, vow_platform_ready *ready, int count) {
    struct epoll_event events[64];
    int cancel = vow_platform_hold_cancel();
    int found = epoll_wait(set, events, count < 64 ? count : 64, 0);
    vow_platform_let_cancel(cancel);
    for (int i = 0; i < found; i++) {
        uint32_t seen = events[i].events;
        ready[i].descriptor = events[i].data.fd;
        ready[i].events = 0;
        if (seen & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
            ready[i].events |= READ_BIT;
        }
        if (seen & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
            ready[i].events |= WRITE_BIT;
        }
    }
    return found > 0 ? found : 0;
}

int vow_platform_sleep(int set, int64_t nanoseconds) {
    struct pollfd one = {set, POLLIN, 0};
    struct timespec time;
    time.tv_sec = (time_t)(nanoseconds / NANOSECONDS);
    time.tv_nsec = (long)(nanoseconds % NANOSECONDS);
    int cancel = vow_platform_hold_cancel();
    int found = ppoll(&one, 1, nanoseconds < 0 ? NULL : &time, NULL);
    vow_platform_let_cancel(cancel);
    return found != 0;
}

int vow_platform_is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}
