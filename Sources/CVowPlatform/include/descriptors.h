/* Descriptors that the core waits on: events, timers, sets of descriptors. All are closed on exec.
 * A function that makes one returns -1 when the system gives none. */
#ifndef VOW_DESCRIPTORS_H
#define VOW_DESCRIPTORS_H

#include <stdint.h>

#define VOW_HIDDEN __attribute__((visibility("hidden")))

/* An event: readable after a raise until it is lowered. Raising is async-signal-safe and keeps
 * errno. */
VOW_HIDDEN int vow_platform_make_event(void);
VOW_HIDDEN void vow_platform_raise(int event);
VOW_HIDDEN void vow_platform_lower(int event);

/* A timer of the monotonic clock: readable from a moment on; 0: never. */
VOW_HIDDEN int vow_platform_make_timer(void);
VOW_HIDDEN void vow_platform_set_timer(int timer, int64_t nanoseconds);

/* A set of descriptors, itself readable while a member is ready. `events` are VOW_READ and
 * VOW_WRITE. Watching returns 0, or an errno. */
VOW_HIDDEN int vow_platform_make_set(void);
VOW_HIDDEN int vow_platform_watch(int set, int descriptor, uint32_t events);
/* Other events for a watched descriptor; 0 events: it is not watched any more. */
VOW_HIDDEN int vow_platform_change_watch(int set, int descriptor, uint32_t events);

typedef struct vow_platform_ready {
    int descriptor;
    uint32_t events; /* both, for one that is broken */
} vow_platform_ready;
/* The ready descriptors, at most `count`. */
VOW_HIDDEN int vow_platform_look(int set, vow_platform_ready *ready, int count);

/* Sleeps until the set is readable, for so many nanoseconds; -1: for ever. False when the time is
 * up. May return early. */
VOW_HIDDEN int vow_platform_sleep(int set, int64_t nanoseconds);

VOW_HIDDEN int vow_platform_is_open(int descriptor);

#endif
