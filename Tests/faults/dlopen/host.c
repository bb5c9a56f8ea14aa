/* A program that is not linked with the library, but loads and unloads it, 1,000 times, in the
 * middle of work: host LIBRARY. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vow.h>

#define ROUNDS 1000
#define SLICE 100
#define PIECES 8

/* The functions that the host asks for, by their names in the header. */
#define FUNCTIONS(one)                                                                             \
    one(vow_promise_create) one(vow_promise_release) one(vow_resolve) one(vow_resolver_release)    \
        one(vow_then) one(vow_async) one(vow_await) one(vow_executor_serial)                       \
            one(vow_executor_release) one(vow_executor_inline) one(vow_stats) one(vow_version)

typedef struct functions {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
} functions;

/* Whether all were found. */
static bool find(void *library, functions *all) {
    void *address;
#define FIND(name)                                                                                 \
    address = dlsym(library, #name);                                                               \
    if (address == NULL) {                                                                         \
        printf("# no %s\n", #name);                                                                \
        return false;                                                                              \
    }                                                                                              \
    memcpy(&all->name, &address, sizeof address);
    FUNCTIONS(FIND)
    return true;
}

static atomic_int runs;

static vow_value work(vow_value input, void *context) {
    (void)input;
    (void)context;
    usleep(50);
    atomic_fetch_add(&runs, 1);
    return vow_int(1);
}

/* Queues work, waits for one piece of it, and leaves the rest running. */
static bool use(const functions *vow) {
    vow_executor *serial = vow->vow_executor_serial("of a plug-in");
    vow_promise *promise = NULL;
    for (int i = 0; i < PIECES; i++) {
        vow->vow_promise_release(promise);
        promise = vow->vow_then(vow->vow_async(i % 2 == 0 ? serial : NULL, work, NULL), work, NULL);
        if (i == 1) {
            vow_value out = vow_none();
            if (vow->vow_await(promise, VOW_FOREVER, &out) != (int)VOW_FULFILLED ||
                out.kind != VOW_INT) {
                printf("# the result is wrong\n");
                return false;
            }
        }
    }
    vow->vow_promise_release(promise);
    vow->vow_executor_release(serial);
    return true;
}

static long resident_kilobytes(void) {
    long all = 0;
    long pages = -1;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &all, &pages) != 2) {
            pages = -1;
        }
        fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static bool round_trip(const char *path, functions *vow) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("# %s\n", dlerror());
        return false;
    }
    /* Closed with work still running, and nobody left who could wait for it. */
    return find(library, vow) && vow->vow_version() == VOW_VERSION && use(vow) &&
           dlclose(library) == 0;
}

int main(int count, char **arguments) {
    functions vow;
    long least = LONG_MAX;
    long before = resident_kilobytes();
    if (count != 2) {
        return 2;
    }
    alarm(300);
    for (int i = 0; i < ROUNDS; i++) {
        if (!round_trip(arguments[1], &vow)) {
            printf("not ok round %d of dlopen and dlclose\n", i);
            return 1;
        }
        if ((i + 1) % SLICE == 0) {
            long now = resident_kilobytes();
            least = now - before < least ? now - before : least;
            before = now;
        }
    }
    printf("ok %d rounds of dlopen and dlclose with work between\n", ROUNDS);

    /* The library stays in memory, so that its functions can still be asked what is left. */
    vow_statistics stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    for (int tries = 0; tries < 60000 && (tries == 0 || stats.live > 0 || stats.bytes > 0);
         tries++) {
        usleep(1000);
        vow.vow_stats(&stats);
    }
    bool done = atomic_load(&runs) == ROUNDS * PIECES * 2 && stats.live == 0 && stats.bytes == 0;
    printf("%s all work was done: %d runs, %" PRIu64 " promises and %" PRIu64 " bytes left\n",
           done ? "ok" : "not ok", atomic_load(&runs), stats.live, stats.bytes);
    /* Worker threads that come and go add to it and take from it, and so do valgrind's notes; but
     * what is lost in every round is lost in every slice. */
    const char *slowness = getenv("TEST_SLOWNESS");
    long page_each = SLICE * 4L * (slowness != NULL ? atoi(slowness) : 1);
    bool flat = before > 0 && least < page_each / 2;
    printf("%s memory stays as it is: %d rounds add %ld KiB at the least\n", flat ? "ok" : "not ok",
           SLICE, least);
    return done && flat ? 0 : 1;
}
