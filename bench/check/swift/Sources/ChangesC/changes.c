/* Takes atomic read-modify-writes: those of the core, and with them what Swift's runtime does to
 * count references. */
#define VOW_SCHEDULES
#define measure_begin begin_core
#define measure_end end_core
#include "../../../changes.c"
#undef measure_begin
#undef measure_end

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The runtime calls its functions through these, if the flag says so. */
typedef void *counting(void *object);
typedef void *counting_many(void *object, uint32_t times);
extern counting *_swift_retain, *_swift_tryRetain;
extern void (*_swift_release)(void *object);
extern counting_many *_swift_retain_n;
extern void (*_swift_release_n)(void *object, uint32_t times);
extern char _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly;

static counting *real_retain, *real_try_retain;
static void (*real_release)(void *object);
static counting_many *real_retain_n;
static void (*real_release_n)(void *object, uint32_t times);

/* Of no object at all nothing is counted. */
static void count_change(const void *object) {
    if (object != NULL && atomic_load(&is_measuring)) {
        atomic_fetch_add(&changes, 1);
    }
}

static void *retain(void *object) {
    count_change(object);
    return real_retain(object);
}

static void *try_retain(void *object) {
    count_change(object);
    return real_try_retain(object);
}

static void release(void *object) {
    count_change(object);
    real_release(object);
}

static void *retain_n(void *object, uint32_t times) {
    count_change(object);
    return real_retain_n(object, times);
}

static void release_n(void *object, uint32_t times) {
    count_change(object);
    real_release_n(object, times);
}

/* These have no such pointer, and stand before the runtime's own. */
typedef void *changing(void *object);

static changing *find_behind(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    changing *function;
    if (found == NULL) {
        fprintf(stderr, "changes: no %s\n", name);
        abort();
    }
    memcpy(&function, &found, sizeof found);
    return function;
}

static changing *real_unowned_retain, *real_unowned_release;

void *swift_unownedRetain(void *object) {
    count_change(object);
    return real_unowned_retain(object);
}

void *swift_unownedRelease(void *object) {
    count_change(object);
    return real_unowned_release(object);
}

__attribute__((constructor)) static void stand_before(void) {
    real_unowned_retain = find_behind("swift_unownedRetain");
    real_unowned_release = find_behind("swift_unownedRelease");
    real_retain = _swift_retain;
    real_try_retain = _swift_tryRetain;
    real_release = _swift_release;
    real_retain_n = _swift_retain_n;
    real_release_n = _swift_release_n;
    _swift_retain = retain;
    _swift_tryRetain = try_retain;
    _swift_release = release;
    _swift_retain_n = retain_n;
    _swift_release_n = release_n;
}

/* Only here: what stands for no object at all, as a short string does, they cannot be called with.
 */
void measure_begin(void) {
    _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly = 1;
    begin_core();
}

void measure_end(void) {
    end_core();
    _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly = 0;
}
