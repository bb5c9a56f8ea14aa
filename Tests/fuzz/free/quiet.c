/* What must hold whenever no call is running, and at the end. */
#include "free.h"

void check_all(void) {
    EXPECT(f.depth == 0, "a callback is running");
    for (int i = 0; i < f.record_count; i++) {
        if (f.records[i].holds > 0) {
            look(i);
        }
    }
    check_scopes();
}

void check_finish(uint64_t bytes_before) {
    for (int i = 0; i < f.link_count; i++) {
        EXPECT(!f.links[i].has_destroy || f.links[i].destroyed == 1,
               "context %d is destroyed %d times", i, f.links[i].destroyed);
    }
    for (int i = 0; i < f.watch_count; i++) {
        EXPECT(f.watches[i].destroyed == 1, "hook %d is destroyed %d times", i,
               f.watches[i].destroyed);
    }
    for (int i = 0; i < f.thing_count; i++) {
        EXPECT(f.things[i].destroyed == 1, "object %d is destroyed %d times", i,
               f.things[i].destroyed);
    }
    for (int i = 0; i < f.listener_count; i++) {
        EXPECT(f.listeners[i].destroyed == 1, "listener %d is destroyed %d times", i,
               f.listeners[i].destroyed);
    }
    for (int i = 0; i < f.queue_count; i++) {
        EXPECT(f.queues[i].destroyed == 1, "executor %d is destroyed %d times", i,
               f.queues[i].destroyed);
    }
    for (int i = 0; i < f.machine_count; i++) {
        EXPECT(f.machines[i].running == 0, "a function is still running");
    }
    vow_statistics now = {.size = sizeof now};
    vow_stats(&now);
    EXPECT(now.live == 0 && now.pending == 0 && now.handlers == 0,
           "%llu promises and %llu reactions are left", (unsigned long long)now.live,
           (unsigned long long)now.handlers);
    EXPECT(now.bytes == bytes_before, "%lld bytes are left", (long long)(now.bytes - bytes_before));
}
