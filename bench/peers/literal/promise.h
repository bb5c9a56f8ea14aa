/* A promise as PromiseKit 1 built it, in C: each has a concurrent queue, which is its lock. Reading
 * is dispatch_sync, registering and settling are dispatch_barrier_sync. */
#ifndef BENCH_LITERAL_PROMISE_H
#define BENCH_LITERAL_PROMISE_H

#include <dispatch/dispatch.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct promise promise;

/* A number, or a promise that is to be adopted. */
typedef struct result {
    long number;
    promise *adopted;
} result;

typedef result (*handler)(long input, void *context);

promise *promise_create(void);
promise *promise_retain(promise *self);
void promise_release(promise *self);

/* Settles (self borrowed), or follows the adopted promise, which is consumed. */
void promise_resolve(promise *self, result value);

/* Registers fn on self (borrowed); on queue NULL it runs at once where self settles. Returns the
 * promise of its result (owned). */
promise *promise_then(promise *self, dispatch_queue_t queue, handler fn, void *context);

/* Whether it is settled; then with what. */
bool promise_peek(promise *self, long *value);

/* Blocks until it is settled. */
long promise_await(promise *self);

/* A promise (owned) that settles when all have (borrowed, at least one); their results are then in
 * the array. */
promise *promise_all(promise *const *promises, size_t count, long *results);

#endif
