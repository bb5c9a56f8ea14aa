/* Tests that no byte passes by the program's allocator: what a thread carries is from there too, a
 * thread's first call without memory has a reserve, and tracing and reports take nothing else. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_OWN_MALLOC 0
#endif
#endif
#ifndef HAS_OWN_MALLOC
#define HAS_OWN_MALLOC 1
#endif

/* All memory of the process: what was taken is not used again. */
static _Alignas(16) unsigned char arena[64 << 20];
static atomic_size_t used;
static atomic_bool is_empty;

/* The size stands before the block. */
static void *take(size_t bytes) {
    size_t whole = (bytes + 31) & ~(size_t)15;
    size_t place = atomic_fetch_add(&used, whole);
    if (atomic_load(&is_empty) || bytes > sizeof arena || place + whole > sizeof arena) {
        return NULL;
    }
    memcpy(arena + place, &bytes, sizeof bytes);
    return arena + place + 16;
}

static _Thread_local int passed_by;

/* In the place of the C library's, for the whole program: each thread counts its calls. Sanitizers
 * need their own. */
#if HAS_OWN_MALLOC
void *malloc(size_t size) {
    passed_by++;
    return take(size);
}

void *calloc(size_t count, size_t size) {
    passed_by++;
    return take(count * size);
}

void *realloc(void *memory, size_t size) {
    size_t before = 0;
    passed_by++;
    void *larger = take(size);
    if (memory != NULL && larger != NULL) {
        memcpy(&before, (unsigned char *)memory - 16, sizeof before);
        memcpy(larger, memory, before < size ? before : size);
    }
    return larger;
}

void *aligned_alloc(size_t alignment, size_t size) {
    (void)alignment, (void)size;
    passed_by++;
    return NULL;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    (void)memory, (void)alignment, (void)size;
    passed_by++;
    return ENOMEM;
}

void free(void *memory) {
    (void)memory;
}
#endif

/* The program's allocator: it counts what threads carry, which it may refuse. */
static atomic_bool is_failing;
static atomic_int carried;

static void *allocate(void *context, size_t bytes) {
    bool begins = begins_thread();
    (void)context;
    size_t *block = begins && atomic_load(&is_failing) ? NULL : take(bytes + 16);
    if (block == NULL) {
        return NULL;
    }
    atomic_fetch_add(&carried, begins);
    block[0] = bytes;
    block[1] = begins;
    return block + 2;
}

static void deallocate(void *context, void *memory, size_t bytes) {
    size_t *block = (size_t *)memory - 2;
    (void)context;
    CHECK_INT_EQ(block[0], bytes);
    atomic_fetch_sub(&carried, (int)block[1]);
}

static void *begin(void *context) {
    vow_promise *promise = then_inline(vow_promise_retain(context), add_one, NULL);
    CHECK_INT_EQ(int_of(promise), 42);
    return NULL;
}

static void *begin_and_stay(void *context) {
    vow_promise_release(fulfilled_int(1));
    pthread_barrier_wait(context);
    pthread_barrier_wait(context);
    return NULL;
}

/* `count` threads, one after the other. */
static void come_and_go(int count) {
    vow_promise *promise = fulfilled_int(41);
    for (int i = 0; i < count; i++) {
        pthread_join(start_thread(begin, promise), NULL);
    }
    vow_promise_release(promise);
}

TEST("what a thread carries is the allocator's, and goes back when the thread ends") {
    enum { count = 8 };
    pthread_barrier_t barrier;
    pthread_t threads[count];
    come_and_go(1);
    int before = atomic_load(&carried);
    come_and_go(20);
    CHECK_INT_EQ(atomic_load(&carried), before);
    pthread_barrier_init(&barrier, NULL, count + 1);
    for (int i = 0; i < count; i++) {
        threads[i] = start_thread(begin_and_stay, &barrier);
    }
    pthread_barrier_wait(&barrier);
    CHECK_INT_EQ(atomic_load(&carried), before + count);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT_EQ(atomic_load(&carried), before);
}

TEST("threads that come and go without memory use the library all the same") {
    atomic_store(&is_failing, true);
    come_and_go(200);
    atomic_store(&is_failing, false);
}

static void need_too_much(void) {
    enum { too_many = 17 };
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, too_many + 1);
    vow_version();
    atomic_store(&is_failing, true);
    for (int i = 0; i < too_many; i++) {
        start_thread(begin_and_stay, &barrier);
    }
    pthread_barrier_wait(&barrier);
}

TEST("more than sixteen of them at a time end the process with a sentence") {
    check_ends("too many", "vow: no memory for what a thread carries");
}

/* A first call, a traced chain and graph, and their ends. Returns how many calls passed by. */
static void *do_all(void *context) {
    static vow_value item;
    int before = passed_by;
    int nowhere = *(int *)context;
    CHECK_INT_EQ(vow_trace_start("/dev/null"), 0);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_set_label(promise, "a promise");
    promise = then_inline(promise, add_one, NULL);
    vow_promise_set_progress(promise, 0.5, "half");
    CHECK_INT_EQ(vow_graph_write(nowhere, VOW_GRAPH_DOT), 0);
    CHECK_INT_EQ(vow_graph_write(nowhere, VOW_GRAPH_JSON), 0);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 2);
    item = vow_string("an item", VOW_NUL_TERMINATED);
    promise = vow_promise_with(vow_list(&item, 1));
    vow_cancel(promise);
    vow_promise_release(promise);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    return (void *)(intptr_t)(passed_by - before);
}

TEST("no byte passes by the allocator, of a thread's first call to the end of its trace") {
    void *calls;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    vow_trace_stop();
    /* The first look at a stack loads a library. */
    do_all(&nowhere);
    pthread_join(start_thread(do_all, &nowhere), &calls);
    CHECK_INT_EQ((intptr_t)calls, 0);
    close(nowhere);
}

static void report(void) {
    CHECK_INT_EQ(vow_trace_start("/dev/null"), 0);
    vow_promise *promise = rejected_code(3);
    vow_promise_set_label(promise, "lost");
    atomic_store(&is_empty, true);
    vow_promise_release(promise);
    int missing = vow_trace_stop();
    atomic_store(&is_empty, false);
    exit(missing);
}

TEST("a report is written and a trace ended when no memory is left at all") {
    ended end = end_of("report");
    CHECK_INT_EQ(end.status, 0);
    CHECK_STR_HAS(end.said, "vow: unhandled rejection of 'lost' made at ");
}

static const part parts[] = {{"too many", need_too_much}, {"report", report}};

int main(int count, char **arguments) {
    static const vow_allocator allocator = {sizeof allocator, allocate, deallocate, NULL};
    if (vow_set_allocator(&allocator) != 0) {
        return 1;
    }
    return run_part_or_tests(parts, sizeof parts / sizeof *parts, count > 1 ? arguments[1] : NULL);
}
