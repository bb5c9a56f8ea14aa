/* Plays scenes with planned failures, and checks that each leaves nothing behind. */
#ifndef VOW_TEST_REPLAY_H
#define VOW_TEST_REPLAY_H

#include "cast.h"

static inline void check_ends(counter *all, int given, const char *what) {
    for (int i = 0; i < given; i++) {
        int ends = atomic_load(&all[i].ends);
        int runs = atomic_load(&all[i].runs);
        if (!CHECK(ends == 1 && runs <= 1)) {
            printf("# %s %d of %d: %d runs, %d ends\n", what, i, given, runs, ends);
        }
    }
}

/* A block is given back a moment after it is counted as such, maybe on another thread. */
static inline bool blocks_return(long long before) {
    for (int tries = 0; tries < 60000 && !keeps_freed && atomic_load(&memory.blocks) != before;
         tries++) {
        usleep(1000);
    }
    return keeps_freed || atomic_load(&memory.blocks) == before;
}

/* Plays a scene under a plan, traced or not. The plan holds until everything is given back: what
 * happens last, on other threads, may lack memory too. */
static inline void play_traced(const scene *one, plan kind, uint64_t number, bool is_traced) {
    /* What is left behind by a fault ends here, and not on a stack that is used again. */
    static cast all;
    memset(&all, 0, sizeof all);
    vow_statistics before = harness_stats();
    if (is_traced) {
        /* The environment's. */
        vow_trace_stop();
    }
    long long blocks = atomic_load(&memory.blocks);
    if (is_traced) {
        CHECK_INT_EQ(vow_trace_start("/dev/null"), 0);
    }
    make_plan(kind, number);
    one->play(&all);
    harness_gate(&before);
    if (is_traced) {
        /* Scenes of tracing have ended it. */
        int missing = vow_trace_stop();
        CHECK(missing == 0 || missing == VOW_EINVAL || (missing > 0 && lacked_memory()));
    }
    atomic_store(&memory.plan, NO_FAILURE);
    check_ends(all.links, atomic_load(&all.given_links), "link");
    check_ends(all.objects, atomic_load(&all.given_objects), "object");
    CHECK_INT_EQ(atomic_load(&all.executors.ends), all.given_executors);
    CHECK(blocks_return(blocks));
    CHECK_INT_EQ(atomic_load(&memory.wrong), 0);
    if (atomic_load(&harness_failures) > 0) {
        printf("# in the scene \"%s\"%s, with plan %d, number %" PRIu64 "\n", one->name,
               is_traced ? ", traced" : "", (int)kind, number);
    }
}

static inline void play(const scene *one, plan kind, uint64_t number) {
    play_traced(one, kind, number, false);
}

/* Plays each scene once with all memory. */
static inline void play_all(const scene *scenes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        play(&scenes[i], NO_FAILURE, 0);
    }
}

/* Plays each scene for number 1, 2, ... until nothing fails any more; then once more so, traced. */
static inline void play_every(const scene *scenes, size_t count, plan kind) {
    for (size_t i = 0; i < 2 * count && atomic_load(&harness_failures) == 0; i++) {
        uint64_t number = 0;
        do {
            number++;
            play_traced(&scenes[i / 2], kind, number, i % 2 == 1);
        } while (lacked_memory() && atomic_load(&harness_failures) == 0);
        if (!CHECK(number > 1)) {
            printf("# the scene \"%s\" allocates nothing\n", scenes[i / 2].name);
        }
    }
}

/* Plays each scene with several failures at random, every eighth time traced. SEED in the
 * environment plays one seed only. */
static inline void play_random(const scene *scenes, size_t count, uint64_t seeds) {
    const char *given = getenv("SEED");
    uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;
    uint64_t last = given != NULL ? first : seeds;
    long long failed = 0;
    for (size_t i = 0; i < count && atomic_load(&harness_failures) == 0; i++) {
        for (uint64_t seed = first; seed <= last && atomic_load(&harness_failures) == 0; seed++) {
            play_traced(&scenes[i], RANDOM_FAILURES, seed, seed % 8 == 1);
            failed += atomic_load(&memory.failed);
        }
    }
    CHECK(failed > 0);
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* The tests of some scenes; `of` says of which, `few` is the number of seeds where everything is
 * slow. */
#define EVERY_SCENE(name, of, few, many, ...)                                                      \
    static const scene scenes_##name[] = {__VA_ARGS__};                                            \
    HARNESS_TEST("every scene" of " survives failures at random", name##_at_random) {              \
        play_random(scenes_##name, COUNT_OF(scenes_##name), slowness() > 1 ? (few) : (many));      \
    }                                                                                              \
    HARNESS_TEST("every scene" of " survives when from some allocation on all fail",               \
                 name##_from) {                                                                    \
        play_every(scenes_##name, COUNT_OF(scenes_##name), FAILURES_FROM);                         \
    }                                                                                              \
    HARNESS_TEST("every scene" of " survives the failure of each single allocation", name##_one) { \
        play_every(scenes_##name, COUNT_OF(scenes_##name), ONE_FAILURE);                           \
    }                                                                                              \
    HARNESS_TEST("every scene" of " leaves nothing behind", name##_all) {                          \
        play_all(scenes_##name, COUNT_OF(scenes_##name));                                          \
    }

#endif
