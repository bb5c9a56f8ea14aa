/* The scene of a shutdown, which a process can play only once. */
#ifndef VOW_TEST_SCENES_SHUTDOWN_H
#define VOW_TEST_SCENES_SHUTDOWN_H

#include "cast.h"

static void scene_shutdown(cast *self) {
    vow_executor *serial = vow_executor_serial("shutdown");
    vow_resolver *resolver;
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *pending = vow_promise_create(&resolver);
    vow_promise *late = cast_link(self, serial, vow_promise_retain(pending), make_string, NULL);
    vow_promise *delay = cast_inline(self, vow_delay(3600 * SECOND), pass_on, NULL);
    vow_promise *ready = cast_inline(self, vow_fd_ready(ends[0], VOW_READ), pass_on, NULL);
    vow_promise *both[2] = {vow_delay(3600 * SECOND), vow_promise_retain(pending)};
    vow_promise *combined = vow_all(both, 2);
    vow_promise *limited = vow_timeout(vow_promise_retain(pending), 3600 * SECOND);
    vow_promise *queued =
        cast_link(self, serial, vow_promise_with(cast_object(self)), pass_on, NULL);
    CHECK(vow_shutdown(VOW_FOREVER) >= 0);
    settles(queued, 0);
    settles(delay, VOW_ESHUTDOWN);
    settles(ready, VOW_ESHUTDOWN);
    settles(combined, VOW_ESHUTDOWN);
    settles(limited, VOW_ESHUTDOWN);
    resolve_last(resolver, cast_object(self));
    settles(late, VOW_ESHUTDOWN);
    settles(pending, 0);
    settles(
        cast_link(self, vow_executor_pool(), vow_promise_with(cast_object(self)), pass_on, NULL),
        VOW_ESHUTDOWN);
    settles(vow_delay(1), VOW_ESHUTDOWN);
    settles(cast_inline(self, vow_promise_with(cast_object(self)), make_string, NULL), 0);
    close(ends[0]);
    close(ends[1]);
    vow_executor_release(serial);
    CHECK_INT_EQ(vow_shutdown(0), 0);
    /* Here the program's own allocator keeps all. */
    CHECK_INT_EQ(vow_trim(), 0);
}

#endif
