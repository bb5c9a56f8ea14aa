/* Tests a thread's first call without memory: what the thread carries comes from a reserve, and the
 * call does what it would do anyway. */
#include "child.h"

static atomic_bool is_failing;

/* In the place of the C library's, for the whole program. */
void *aligned_alloc(size_t alignment, size_t size) {
    void *memory = NULL;
    if (atomic_load(&is_failing) || posix_memalign(&memory, alignment, size) != 0) {
        return NULL;
    }
    return memory;
}

static void *begin(void *context) {
    vow_promise *promise = then_inline(vow_promise_retain(context), add_one, NULL);
    CHECK_INT_EQ(int_of(promise), 42);
    return NULL;
}

static void *begin_and_stay(void *context) {
    fulfilled_int(1);
    pthread_barrier_wait(context);
    pthread_barrier_wait(context);
    return NULL;
}

TEST("threads that come and go without memory use the library all the same") {
    vow_promise *promise = fulfilled_int(41);
    atomic_store(&is_failing, true);
    for (int i = 0; i < 200; i++) {
        pthread_join(start_thread(begin, promise), NULL);
    }
    atomic_store(&is_failing, false);
    vow_promise_release(promise);
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

static const part parts[] = {{"too many", need_too_much}};

TEST("more than sixteen of them at a time end the process with a sentence") {
    check_ends("too many", "vow: no memory for what a thread carries");
}

int main(int count, char **arguments) {
    return run_part_or_tests(parts, sizeof parts / sizeof *parts, count > 1 ? arguments[1] : NULL);
}
