/* W12 as libuv's documentation has it: a queue under a mutex, and uv_async_send, which is the one
 * function that other threads may call. The loop takes the whole queue at once. */
#include "duel.h"
#include "peer.h"

#include <uv.h>

typedef struct item {
    struct item *next;
    void (*run)(void);
} item;

static uv_loop_t loop;
static uv_async_t async;
static uv_mutex_t mutex;
static item *first, **last = &first;
static size_t ran, wanted;

const char *peer_version(void) {
    return uv_version_string();
}

static void work(void) {
    ran++;
}

static void take_all(uv_async_t *handle) {
    uv_mutex_lock(&mutex);
    item *each = first;
    first = NULL;
    last = &first;
    uv_mutex_unlock(&mutex);
    while (each != NULL) {
        item *next = each->next;
        each->run();
        free(each);
        each = next;
    }
    if (ran == wanted) {
        uv_stop(handle->loop);
    }
}

static void begin(size_t n) {
    (void)n;
    peer_expect(uv_loop_init(&loop) == 0 && uv_mutex_init(&mutex) == 0, "libuv");
    peer_expect(uv_async_init(&loop, &async, take_all) == 0, "libuv");
}

static void run(size_t n) {
    (void)n;
    uv_run(&loop, UV_RUN_DEFAULT);
}

static void submit(size_t n) {
    for (size_t i = 0; i < n; i++) {
        item *each = malloc(sizeof *each);
        *each = (item){NULL, work};
        uv_mutex_lock(&mutex);
        *last = each;
        last = &each->next;
        uv_mutex_unlock(&mutex);
        uv_async_send(&async);
    }
}

static void loop_items(size_t n) {
    ran = 0;
    wanted = n;
    duel(run, submit, n);
    peer_expect(ran == n, "W12");
}

const peer_workload peer_workloads[] = {
    {.name = "W12", .begin = begin, .pass = loop_items},
    {.name = NULL},
};
