/* libdispatch by itself: single calls onto a serial queue, and a chain whose links submit each
 * other. */
#include "raw.h"

#include <dispatch/dispatch.h>

static dispatch_queue_t serial, target;
static dispatch_semaphore_t done;
static size_t left;

void begin_hops(size_t n) {
    (void)n;
    serial = dispatch_queue_create("bench", DISPATCH_QUEUE_SERIAL);
    done = dispatch_semaphore_create(0);
}

static void item(void *unused) {
    (void)unused;
    if (--left == 0) {
        dispatch_semaphore_signal(done);
    }
}

void serial_calls(size_t n) {
    left = n;
    for (size_t i = 0; i < n; i++) {
        dispatch_async_f(serial, NULL, item);
    }
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    peer_expect(left == 0, "W6c");
}

static void hop(void *unused) {
    if (--left > 0) {
        dispatch_async_f(target, unused, hop);
    } else {
        dispatch_semaphore_signal(done);
    }
}

static void hops(dispatch_queue_t queue, size_t n) {
    left = n;
    target = queue;
    dispatch_async_f(target, NULL, hop);
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    peer_expect(left == 0, "W6a, W6b");
}

void serial_hops(size_t n) {
    hops(serial, n);
}

void pool_hops(size_t n) {
    hops(dispatch_get_global_queue(0, 0), n);
}
