/* The static probes: a no-operation each, with a note by which bpftrace, perf, SystemTap and gdb
 * find it. Without sys/sdt.h (systemtap-sdt-dev) the library has none. */
#include "probes.h"

__attribute__((section(".probes"))) vow_onlookers vow_platform_onlookers;

#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#define VOW_HAS_PROBES 1
#endif
#endif

#ifdef VOW_HAS_PROBES
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

/* Its macros leave variadic arguments out. */
#pragma GCC diagnostic ignored "-Wpedantic"

/* Every probe has the same semaphore, so that one word tells of all. The note knows it by a name
 * made of the probe's. */
#define SEMAPHORE(name)                                                                            \
    extern unsigned short vow_##name##_semaphore                                                   \
        __attribute__((alias("vow_platform_onlookers"), visibility("hidden")))
SEMAPHORE(create);
SEMAPHORE(resolve);
SEMAPHORE(settle);
SEMAPHORE(run_start);
SEMAPHORE(run_done);
SEMAPHORE(cancel);

/* The byte by which tools find out how far a program was moved. The notes alone would not keep a
 * linker that drops unused sections from dropping it, and without it gdb ignores them. */
extern char vow_note_base __asm__("_.stapsdt.base") __attribute__((visibility("hidden")));
__attribute__((section(".probes"), used)) static char *kept_note_base = &vow_note_base;
#else
#define DTRACE_PROBE1(...)
#define DTRACE_PROBE2(...)
#define DTRACE_PROBE3(...)
#endif

void vow_probe_create(const void *promise, const void *reads, const char *kind) {
    (void)promise, (void)reads, (void)kind;
    DTRACE_PROBE3(vow, create, promise, reads, kind);
}

void vow_probe_resolve(const void *promise, uint32_t kind) {
    (void)promise, (void)kind;
    DTRACE_PROBE2(vow, resolve, promise, kind);
}

void vow_probe_settle(const void *promise, int rejected, int64_t code) {
    (void)promise, (void)rejected, (void)code;
    DTRACE_PROBE3(vow, settle, promise, rejected, code);
}

void vow_probe_run_start(const void *promise, const void *reads, const char *executor) {
    (void)promise, (void)reads, (void)executor;
    DTRACE_PROBE3(vow, run_start, promise, reads, executor);
}

void vow_probe_run_done(const void *promise) {
    (void)promise;
    DTRACE_PROBE1(vow, run_done, promise);
}

void vow_probe_cancel(const void *promise) {
    (void)promise;
    DTRACE_PROBE1(vow, cancel, promise);
}
