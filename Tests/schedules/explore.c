/* The decisions of one execution: taken from a search, from a seed, or from a text. */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One decision among several threads. */
typedef struct decision {
    unsigned char taken, count;
    bool continues;
    /* How many preemptions came before. */
    unsigned char preemptions;
} decision;

static decision path[SCHEDULER_STEPS + 1];
static int depth;
static int preemptions;
/* So many decisions are as they stand in the path. */
static int prefix;
static int bound;

static enum { SEARCH, RANDOM, GIVEN } mode;
static const char *name;

/* RANDOM: by priorities that change at a few places (few preemptions, anywhere), or by a switch
 * now and then. */
static uint64_t seed;
static uint64_t random_state;
static bool by_priority;
static int priorities[SCHEDULER_THREADS];
static int lowest_priority;
static int changes_at[5];
static int change_count;
static unsigned switch_distance;

static uint64_t next_random(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int random_below(int limit) {
    return (int)(next_random() % (uint64_t)limit);
}

void explore_first(int most) {
    mode = SEARCH;
    bound = most;
    prefix = 0;
}

bool explore_next(void) {
    for (int i = depth - 1; i >= 0; i--) {
        decision *it = &path[i];
        bool may_preempt = !it->continues || it->preemptions < bound;
        if (may_preempt && it->taken + 1 < it->count) {
            it->taken++;
            prefix = i + 1;
            return true;
        }
    }
    return false;
}

void explore_seed(uint64_t given, int length) {
    mode = RANDOM;
    seed = random_state = given;
    by_priority = random_below(2) == 0;
    for (int i = 0; i < SCHEDULER_THREADS; i++) {
        int other = random_below(i + 1);
        priorities[i] = priorities[other];
        priorities[other] = i;
    }
    lowest_priority = 0;
    change_count = 1 + random_below(5);
    for (int i = 0; i < change_count; i++) {
        changes_at[i] = random_below(length > 0 ? length : 1);
    }
    switch_distance = 2u << random_below(5);
}

/* The text is "number:choice" for each decision that is not 0, with commas between. */
bool explore_schedule(const char *text) {
    mode = GIVEN;
    memset(path, 0, sizeof path);
    prefix = 0;
    while (*text != 0) {
        char *end;
        long number = strtol(text, &end, 10);
        long choice;
        if (*end != ':' || number < 0 || number > SCHEDULER_STEPS) {
            return false;
        }
        choice = strtol(end + 1, &end, 10);
        if (choice < 0 || choice >= SCHEDULER_THREADS || (*end != 0 && *end != ',')) {
            return false;
        }
        path[number].taken = (unsigned char)choice;
        prefix = (int)number + 1;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

static int choose_randomly(const int *threads, int count, bool continues) {
    int best = 0;
    if (!by_priority) {
        bool stays = continues && next_random() % switch_distance != 0;
        return stays ? 0 : random_below(count);
    }
    for (int i = 0; i < change_count; i++) {
        if (changes_at[i] == depth && continues) {
            priorities[threads[0]] = --lowest_priority;
        }
    }
    for (int i = 1; i < count; i++) {
        if (priorities[threads[i]] > priorities[threads[best]]) {
            best = i;
        }
    }
    return best;
}

int explore_choose(const int *threads, int count, bool continues) {
    decision *it = &path[depth];
    int taken = 0;
    if (depth < prefix && mode != RANDOM) {
        taken = it->taken;
        if (taken >= count || (mode == SEARCH && depth < prefix - 1 && it->count != count)) {
            scheduler_fail("the schedule does not fit: it is another program's, or the scenario "
                           "is not the same each time");
        }
    } else if (mode == RANDOM) {
        taken = choose_randomly(threads, count, continues);
    }
    it->taken = (unsigned char)taken;
    it->count = (unsigned char)count;
    it->continues = continues;
    it->preemptions = (unsigned char)(preemptions < 255 ? preemptions : 255);
    preemptions += continues && taken != 0;
    depth++;
    return taken;
}

void explore_begin(const char *scenario_name) {
    name = scenario_name;
    depth = 0;
    preemptions = 0;
}

void explore_end(void) {
    name = NULL;
}

int explore_depth(void) {
    return depth;
}

int explore_preemptions(void) {
    return preemptions;
}

void explore_report(void) {
    const char *comma = "";
    if (name == NULL) {
        return;
    }
    fprintf(stderr, "scenario %s, %d preemptions in %d decisions", name, preemptions, depth);
    if (mode == RANDOM) {
        fprintf(stderr, ", seed %llu", (unsigned long long)seed);
    }
    fprintf(stderr, "\nreplay: Tests/schedules/run --replay %s --trace --schedule ", name);
    for (int i = 0; i < depth; i++) {
        if (path[i].taken != 0) {
            fprintf(stderr, "%s%d:%d", comma, i, path[i].taken);
            comma = ",";
        }
    }
    fprintf(stderr, "%s\n", *comma == 0 ? "0:0" : "");
    if (mode == RANDOM) {
        fprintf(stderr, "or:     Tests/schedules/run --replay %s --seed %llu\n", name,
                (unsigned long long)seed);
    }
}
