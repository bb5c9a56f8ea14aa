/* Peers of the system: swapcontext, and threads. */
#include "workload.h"

#include <pthread.h>
#include <semaphore.h>
#include <ucontext.h>

static ucontext_t home, other;
static size_t entered;

static void leave_again(void) {
    for (;;) {
        entered++;
        swapcontext(&other, &home);
    }
}

static void swap(size_t n) {
    static char stack[65536];
    EXPECT(getcontext(&other) == 0);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    makecontext(&other, leave_again, 0);
    size_t before = entered;
    for (size_t i = 0; i < n / 2; i++) {
        swapcontext(&home, &other);
    }
    EXPECT(entered == before + n / 2);
}

#define MOST 10000

static pthread_t made[MOST];
static sem_t gates[MOST], here;
static size_t turns;

static void begin(size_t n, void *(*work)(void *)) {
    pthread_attr_t small; /* as a fiber's stack */
    EXPECT(n <= MOST && pthread_attr_init(&small) == 0);
    EXPECT(pthread_attr_setstacksize(&small, 65536) == 0);
    for (size_t i = 0; i < n; i++) {
        EXPECT(sem_init(&gates[i], 0, 0) == 0);
    }
    for (size_t i = 0; i < n; i++) {
        EXPECT(pthread_create(&made[i], &small, work, &gates[i]) == 0);
    }
}

static void end(size_t n) {
    for (size_t i = 0; i < n; i++) {
        EXPECT(pthread_join(made[i], NULL) == 0);
    }
}

static void *end_at_once(void *gate) {
    return gate;
}

static void spawn(size_t n) {
    begin(n, end_at_once);
    end(n);
}

static void *wait_once(void *gate) {
    sem_post(&here);
    sem_wait(gate);
    return NULL;
}

static void await(size_t n) {
    begin(n, wait_once);
    for (size_t i = 0; i < n; i++) {
        sem_wait(&here);
    }
    for (size_t i = 0; i < n; i++) {
        sem_post(&gates[i]);
    }
    end(n);
}

static void *play(void *gate) {
    sem_t *other = gate == &gates[0] ? &gates[1] : &gates[0];
    for (size_t i = 0; i < turns; i++) {
        sem_wait(gate);
        sem_post(other);
    }
    return NULL;
}

static void hand_over(size_t n) {
    turns = n / 2;
    begin(2, play);
    sem_post(&gates[0]);
    end(2);
}

int main(int argc, char **argv) {
    static const workload workloads[] = {{"switch", swap},
                                         {"spawn", spawn},
                                         {"await", await},
                                         {"hand-over", hand_over},
                                         {NULL, NULL}};
    return run_workload(argc, argv, workloads);
}
