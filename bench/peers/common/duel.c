/* The two threads of duel.h. */
#define _GNU_SOURCE
#include "duel.h"

#include "peer.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_barrier_t gate;
static void (*second_work)(size_t);
static size_t second_count;

/* Where each side is; a cache line apart. */
static struct { _Alignas(128) _Atomic size_t at; } sides[2];

static void pin(long processor) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)(processor % count), &set);
    sched_setaffinity(0, sizeof set, &set); /* a machine that forbids it measures unpinned */
}

static void *second_thread(void *unused) {
    (void)unused;
    pin(1);
    for (;;) {
        pthread_barrier_wait(&gate);
        second_work(second_count);
        pthread_barrier_wait(&gate);
    }
    return NULL;
}

void duel(void (*first)(size_t), void (*second)(size_t), size_t n) {
    static bool begun;
    if (!begun) {
        begun = true;
        pthread_t thread;
        pthread_barrier_init(&gate, NULL, 2);
        peer_expect(pthread_create(&thread, NULL, second_thread, NULL) == 0, "no thread");
        pin(0);
    }
    second_work = second;
    second_count = n;
    sides[0].at = sides[1].at = 0;
    pthread_barrier_wait(&gate);
    first(n);
    pthread_barrier_wait(&gate);
}

void duel_meet(int side, size_t round) {
    atomic_store_explicit(&sides[side].at, round + 1, memory_order_release);
    for (unsigned looks = 0;
         atomic_load_explicit(&sides[1 - side].at, memory_order_acquire) <= round; looks++) {
        if (looks >= 1000) {
            sched_yield(); /* the other one may not be running */
        }
    }
}
