/* W12: one thread hands work to a loop, the other runs it there. */
#include "duel.h"
#include "vow_peer.h"

static vow_loop *loop;
static size_t ran;

static vow_value item(vow_value input, void *context) {
    (void)context;
    ran++;
    return input;
}

static void run(size_t n) {
    while (ran < n) {
        peer_expect(vow_loop_run_once(loop, VOW_FOREVER) >= 0, "W12");
    }
}

static void submit(size_t n) {
    vow_executor *executor = vow_loop_executor(loop);
    for (size_t i = 0; i < n; i++) {
        vow_promise_release(vow_async(executor, item, NULL));
    }
}

void begin_loop(size_t n) {
    (void)n;
    loop = vow_loop_create();
}

void loop_items(size_t n) {
    ran = 0;
    duel(run, submit, n);
    peer_expect(ran == n, "W12");
}
