/* Executes one scenario under many schedules, or under one; prints one line. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "explore.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const scenario *current;
static unsigned outcomes_seen;

void outcome(int number) {
    CHECK(number >= 0 && number < current->outcomes);
    outcomes_seen |= 1u << number;
}

static vow_statistics statistics(void) {
    vow_statistics now;
    memset(&now, 0, sizeof now);
    now.size = sizeof now;
    CHECK(vow_stats(&now) == 0);
    return now;
}

static void count_unhandled(vow_value error, void *context) {
    (void)error;
    (void)context;
    unhandled++;
}

static void execute(void) {
    vow_statistics before = statistics(), after;
    int count = 0;
    while (count < SCHEDULER_THREADS && current->bodies[count] != NULL) {
        count++;
    }
    unhandled = 0;
    explore_begin(current->name);
    current->start();
    scheduler_run(current->bodies, count);
    current->finish();
    after = statistics();
    CHECK(after.live == before.live);
    CHECK(after.pending == before.pending);
    CHECK(after.handlers == before.handlers);
    CHECK(after.bytes == before.bytes);
    explore_end();
}

/* A thread's first call enters it into the core's list, once for all executions. */
static void enter(void) {
    vow_promise_release(vow_promise_with(vow_none()));
}

/* AddressSanitizer, before it ends the program. */
void __asan_on_error(void);
void __asan_on_error(void) {
    explore_report();
}
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=16:detect_stack_use_after_return=0:handle_abort=0:handle_segv=0";
}

/* abort() in the core says what is impossible; a crash says nothing. */
static void report_signal(int number) {
    fprintf(stderr, "failed: %s\n", number == SIGABRT ? "the core gave up" : "a crash");
    explore_report();
    _exit(1);
}

static void stay_on_processor(int number) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)number % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &set);
    /* Handing over is much faster on one processor; where that is refused, it is only slower. */
    (void)sched_setaffinity(0, sizeof set, &set);
}

static long explore_all(int bound, int *deepest) {
    long executions = 0;
    for (int most = 0; most <= bound; most++) {
        explore_first(most);
        do {
            execute();
            /* Those with fewer preemptions were counted before. */
            executions += explore_preemptions() == most;
            if (explore_depth() > *deepest) {
                *deepest = explore_depth();
            }
        } while (explore_next());
    }
    return executions;
}

/* The linker's: where the section of the scenarios begins and ends. */
extern const scenario __start_scenarios[], __stop_scenarios[];

static const scenario *find(const char *name) {
    for (const scenario *each = __start_scenarios; each < __stop_scenarios; each++) {
        if (strcmp(each->name, name) == 0) {
            return each;
        }
    }
    fprintf(stderr, "no scenario '%s'\n", name);
    exit(2);
}

static void usage(void) {
    fprintf(stderr, "schedules --list | NAME [--more N] [--random N] [--from SEED] [--cpu N]\n"
                    "schedules NAME (--seed N | --schedule TEXT) [--trace]\n");
    exit(2);
}

int main(int count, char **arguments) {
    int more = 0, deepest = 0;
    long randoms = 2000, all;
    uint64_t from = 1;
    const char *seed = NULL, *schedule = NULL;
    if (count < 2) {
        usage();
    }
    if (strcmp(arguments[1], "--list") == 0) {
        for (const scenario *each = __start_scenarios; each < __stop_scenarios; each++) {
            printf("%s\n", each->name);
        }
        return 0;
    }
    current = find(arguments[1]);
    for (int i = 2; i < count; i++) {
        const char *option = arguments[i];
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(option, "--trace") == 0) {
            scheduler_traces = true;
            continue;
        }
        if (value == NULL) {
            usage();
        }
        i++;
        if (strcmp(option, "--more") == 0) {
            more = atoi(value);
        } else if (strcmp(option, "--random") == 0) {
            randoms = atol(value);
        } else if (strcmp(option, "--from") == 0) {
            from = strtoull(value, NULL, 10);
        } else if (strcmp(option, "--cpu") == 0) {
            stay_on_processor(atoi(value));
        } else if (strcmp(option, "--seed") == 0) {
            seed = value;
        } else if (strcmp(option, "--schedule") == 0) {
            schedule = value;
        } else {
            usage();
        }
    }
    signal(SIGABRT, report_signal);
    signal(SIGSEGV, report_signal);
    vow_on_unhandled(count_unhandled, NULL);
    enter();
    scheduler_start(enter);
    if (seed != NULL || schedule != NULL) {
        /* The depth that a seed is meant for is that of the schedule without preemption. */
        bool traces = scheduler_traces;
        scheduler_traces = false;
        explore_first(0);
        execute();
        scheduler_traces = traces;
        if (seed != NULL) {
            explore_seed(strtoull(seed, NULL, 10), explore_depth());
        } else if (!explore_schedule(schedule)) {
            usage();
        }
        execute();
        printf("ok %s\n", current->name);
        return 0;
    }
    all = explore_all(current->bound + more, &deepest);
    explore_first(0);
    execute();
    {
        int length = explore_depth();
        for (long i = 0; i < randoms; i++) {
            explore_seed(from + (uint64_t)i, length);
            execute();
        }
    }
    if (outcomes_seen != (1u << current->outcomes) - 1) {
        printf("not ok %s: outcomes seen %#x of %d\n", current->name, outcomes_seen,
               current->outcomes);
        return 1;
    }
    printf("ok %s executions=%ld max-depth=%d bound=%d random=%ld outcomes=%d\n", current->name,
           all + randoms, deepest, current->bound + more, randoms, current->outcomes);
    return 0;
}
