/* The second run of a program: without the model, with every chapter. */
#define _POSIX_C_SOURCE 200809L
#include "entry.h"
#include "free.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Everything that is counted is forgotten; the rest is written before it is read. */
static void reset(const uint8_t *data, size_t size) {
    static int pair[3] = {-1, -1, -1};
    char byte[64];
    if (pair[0] < 0) {
        EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0,
               "no descriptors");
        pair[2] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    while (read(pair[0], byte, sizeof byte) > 0) {
    }
    memset(f.links, 0, (size_t)f.link_count * sizeof f.links[0]);
    memset(f.things, 0, (size_t)f.thing_count * sizeof f.things[0]);
    memset(f.queues, 0, (size_t)f.queue_count * sizeof f.queues[0]);
    memset(f.loops, 0, sizeof f.loops);
    memset(f.scopes, 0, sizeof f.scopes);
    memset(f.can, 0, sizeof f.can);
    f.record_count = f.link_count = f.watch_count = f.thing_count = f.queue_count = 0;
    f.loop_count = f.listener_count = f.machine_count = f.edge_count = f.group_count = 0;
    f.next_code = f.depth = f.fibers = 0;
    f.frames[0] = AT_TOP;
    f.carried[0] = -1;
    memcpy(f.descriptors, pair, sizeof pair);
    for (int i = 0; i < PLACES; i++) {
        f.promises[i] = -1;
    }
    f.can[-VOW_ECYCLE] = true;
    program = (struct bytes){.data = data, .left = size};
    f.looks = size % 2;
}

static void release_everything(void) {
    for (int i = 0; i < PLACES; i++) {
        if (f.resolvers[i] != NULL) {
            drop_resolver(i);
        }
        if (f.promises[i] >= 0) {
            release_place(i);
        }
        if (f.sources[i] != NULL) {
            drop_source(i);
        }
    }
    end_scopes();
}

/* What the program keeps without having it in a place. */
static void release_kept(void) {
    end_machines();
    for (int i = 0; i < f.record_count; i++) {
        record *self = &f.records[i];
        if (self->cancelled_last) {
            self->cancelled_last = false;
            f.can[-VOW_ECANCELLED] = self->cancelled = true;
            vow_cancel(self->real);
            let_go_record(i);
        }
    }
    for (int i = 0; i < f.record_count; i++) {
        record *self = &f.records[i];
        if (self->kept) {
            self->kept = false;
            for (int j = 0; j < self->count; j++) {
                let_go_record(self->members[j]);
            }
        }
    }
}

/* The bytes have run out, so that nothing new is made. */
static void finish(void) {
    int loop = loop_here();
    vow_context_set(vow_none());
    f.carried[0] = -1;
    run_tasks(true);
    if (loop >= 0) {
        end_loop(loop);
    }
    for (int i = 0; i < 3; i++) {
        release_everything();
        run_tasks(true);
        release_kept();
        run_tasks(true);
    }
    check_scopes();
    for (int i = 0; i < SCOPES; i++) {
        EXPECT(!f.scopes[i].closed, "scope %d has no end", i);
    }
    vow_executor_set_default(vow_executor_inline());
    for (int i = 0; i < f.queue_count; i++) {
        vow_executor_release(f.queues[i].real);
    }
    for (int i = 0; i < f.loop_count; i++) {
        vow_executor_release(f.loops[i].executor);
    }
    end_tracing();
}

void run_free(const uint8_t *data, size_t size) {
    reset(data, size);
    f.had_threads = f.begun = false;
    vow_executor_set_default(vow_executor_inline());
    vow_on_unhandled(free_on_unhandled, &f);
    vow_statistics before = {.size = sizeof before};
    vow_stats(&before);
    if (size / 2 % 2) {
        loop_step(0); /* so that there is one early */
    }
    while (program.left > 0 && !is_full()) {
        one_step();
        check_all();
    }
    program.left = 0;
    finish();
    wait_for_threads(before.bytes);
    check_finish(before.bytes);
    vow_on_unhandled(NULL, NULL);
}
