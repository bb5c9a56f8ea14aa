/* 10-libuv.c: promises in libuv's loop; its requests and timers as promises that can be cancelled.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common.h"

/* ---------------------------------------------------------------- Vow in libuv's loop
 *
 * One uv_poll_t. Everything below, handlers included, runs on the thread that calls uv_run. */

static void on_readable(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    vow_loop_run_once(poll->data, 0);
}

static void start(uv_poll_t *poll, vow_loop *loop) {
    uv_poll_init(uv_default_loop(), poll, vow_loop_fd(loop));
    poll->data = loop;
    uv_poll_start(poll, UV_READABLE, on_readable);
}

/* uv_run returns when no handle is left, so the last handler closes ours. */
static vow_value stop(vow_value outcome, void *context) {
    (void)outcome;
    uv_close(context, NULL);
    return vow_none();
}

/* ---------------------------------------------------------------- A file request
 *
 * libuv calls back once for each request, also for a cancelled one: there it is freed. */

struct request {
    uv_fs_t fs;
    vow_resolver *resolver;
    char bytes[64]; /* what was read */
};

static void end(struct request *request) {
    vow_resolver_release(request->resolver);
    uv_fs_req_cleanup(&request->fs);
    free(request);
}

static vow_value result_of(const struct request *request) {
    ssize_t result = request->fs.result;
    if (result < 0) {
        return vow_error("libuv", result, uv_strerror((int)result));
    }
    return request->fs.fs_type == UV_FS_READ ? vow_string(request->bytes, (size_t)result)
                                             : vow_int(result);
}

static void on_done(uv_fs_t *fs) {
    struct request *request = fs->data;
    bool wanted = vow_resolve(request->resolver, result_of(request));
    if (!wanted && fs->fs_type == UV_FS_OPEN && fs->result >= 0) {
        close((int)fs->result); /* cancelled too late, and now nobody else will close it */
    }
    end(request);
}

/* Nobody wants the result any more: libuv drops what it has not begun. */
static void on_unwanted(void *context) {
    struct request *request = context;
    uv_cancel((uv_req_t *)&request->fs);
}

static struct request *begin(vow_promise **promise) {
    struct request *request = calloc(1, sizeof *request);
    if (request == NULL) {
        exit(1);
    }
    request->fs.data = request;
    *promise = vow_promise_create(&request->resolver);
    return request;
}

static vow_promise *begun(struct request *request, int status, vow_promise *promise) {
    if (status < 0) {
        vow_reject(request->resolver, vow_error("libuv", status, uv_strerror(status)));
        end(request);
    } else {
        vow_resolver_on_cancel(request->resolver, on_unwanted, request, NULL);
    }
    return promise;
}

/* The three that are needed here; each of the others would look the same. */
static vow_promise *open_file(const char *path) {
    vow_promise *promise;
    struct request *request = begin(&promise);
    int status = uv_fs_open(uv_default_loop(), &request->fs, path, O_RDONLY, 0, on_done);
    return begun(request, status, promise);
}

static vow_promise *read_file(int fd) {
    vow_promise *promise;
    struct request *request = begin(&promise);
    uv_buf_t buffer = uv_buf_init(request->bytes, sizeof request->bytes);
    int status = uv_fs_read(uv_default_loop(), &request->fs, fd, &buffer, 1, 0, on_done);
    return begun(request, status, promise);
}

static vow_promise *close_file(int fd) {
    vow_promise *promise;
    struct request *request = begin(&promise);
    int status = uv_fs_close(uv_default_loop(), &request->fs, fd, on_done);
    return begun(request, status, promise);
}

/* ---------------------------------------------------------------- A timer
 *
 * vow_delay would do. This is how any other handle of libuv becomes a promise: it is closed when it
 * has done its work or nobody wants it, whichever comes first. */

struct timer {
    uv_timer_t uv;
    vow_resolver *resolver;
};

static void free_timer(uv_handle_t *handle) {
    free(handle->data);
}

static void close_timer(void *context) {
    struct timer *timer = context;
    vow_resolver_release(timer->resolver);
    uv_close((uv_handle_t *)&timer->uv, free_timer); /* stops it at once */
}

static void on_time(uv_timer_t *uv) {
    struct timer *timer = uv->data;
    vow_resolve(timer->resolver, vow_none());
    close_timer(timer);
}

static vow_promise *wait_ms(uint64_t ms) {
    struct timer *timer = calloc(1, sizeof *timer);
    if (timer == NULL) {
        exit(1);
    }
    vow_promise *promise = vow_promise_create(&timer->resolver);
    uv_timer_init(uv_default_loop(), &timer->uv);
    timer->uv.data = timer;
    uv_timer_start(&timer->uv, on_time, ms, 0);
    vow_resolver_on_cancel(timer->resolver, close_timer, timer, NULL);
    return promise;
}

/* ---------------------------------------------------------------- The chain */

static vow_value then_read(vow_value fd, void *context) {
    int *opened = context;
    *opened = (int)fd.as.integer;
    return vow_from_promise(read_file(*opened));
}

static vow_value then_close(vow_value outcome, void *context) {
    const int *opened = context;
    (void)outcome;
    return *opened < 0 ? vow_none() : vow_from_promise(close_file(*opened));
}

static vow_value then_wait(vow_value text, void *context) {
    (void)context;
    show("read", text);
    return vow_from_promise(wait_ms(10));
}

/* A promise (consumed) that is cancelled before it could settle. */
static void give_up(const char *what, vow_promise *promise) {
    vow_cancel(promise);
    vow_value outcome = wait_for(promise);
    printf("%s: %s\n", what, vow_error_name(vow_error_code(outcome)));
    vow_value_release(outcome);
}

int main(void) {
    static const char text[] = "written before the loop";
    char path[] = "/tmp/vow-10-libuv-XXXXXX";
    int written = mkstemp(path), opened = -1;
    vow_loop *loop = vow_loop_create();
    if (loop == NULL || written < 0 || write(written, text, sizeof text - 1) < 0) {
        return 1;
    }
    close(written);
    uv_poll_t poll;
    start(&poll, loop);

    give_up("a timer of an hour", wait_ms(3600000));
    give_up("a file", open_file(path));

    vow_promise *chain = vow_then(open_file(path), then_read, &opened);
    chain = vow_finally(chain, then_close, &opened);
    chain = vow_then(chain, then_wait, NULL);
    chain = vow_finally(chain, stop, &poll);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);

    show_result("10 ms later", chain);
    printf("libuv's loop is empty: %s\n", uv_loop_close(uv_default_loop()) == 0 ? "yes" : "no");
    unlink(path);
    vow_loop_destroy(loop);
    return nothing_left();
}
