/* Being watched: the word that says whether a tracer or tracing is on, and the static probes of
 * SystemTap's kind. Both cost one load and one branch while neither is. */
#ifndef VOW_PROBES_H
#define VOW_PROBES_H

#include <stdint.h>

/* Two halves, so one load reads both. A tracer raises the first through the probes' semaphores, the
 * library the second. */
typedef struct vow_onlookers {
    uint16_t probes;
    uint16_t tracing;
} vow_onlookers;
extern vow_onlookers vow_platform_onlookers __attribute__((visibility("hidden"), aligned(4)));

static inline int vow_platform_is_watched(void) {
    return __atomic_load_n((const uint32_t *)(const void *)&vow_platform_onlookers,
                           __ATOMIC_RELAXED) != 0;
}

static inline int vow_platform_is_probed(void) {
    return __atomic_load_n(&vow_platform_onlookers.probes, __ATOMIC_RELAXED) != 0;
}

static inline int vow_platform_is_tracing(void) {
    return __atomic_load_n(&vow_platform_onlookers.tracing, __ATOMIC_RELAXED) != 0;
}

static inline void vow_platform_set_tracing(int on) {
    __atomic_store_n(&vow_platform_onlookers.tracing, (uint16_t)(on != 0), __ATOMIC_RELAXED);
}

/* The probes, of the provider "vow". Their arguments are described in docs/tracing.md. */
/* clang-format off */
#define VOW_PROBE(name, ...) \
    __attribute__((visibility("hidden"))) void vow_probe_##name(__VA_ARGS__)
VOW_PROBE(create, const void *promise, const void *reads, const char *kind);
VOW_PROBE(resolve, const void *promise, uint32_t kind);
VOW_PROBE(settle, const void *promise, int rejected, int64_t code);
VOW_PROBE(run_start, const void *promise, const void *reads, const char *executor);
VOW_PROBE(run_done, const void *promise);
VOW_PROBE(cancel, const void *promise);
/* clang-format on */

#endif
