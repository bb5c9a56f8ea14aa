/* pool.c: a line of those who wait for a connection, and a loan for each use of one. */
#define _POSIX_C_SOURCE 200809L
#include "pool.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    struct connection connection; /* first, so that a pointer to it is one to the slot */
    struct pool *pool;
    struct slot *next; /* at home */
};

/* What one call of pool_use has: a place in line, then a connection, then an outcome. */
struct loan {
    struct pool *pool;
    vow_handler use;
    void *context;
    void (*destroy)(void *context);
    vow_resolver *resolver; /* of the promise that pool_use returned */
    struct slot *slot;      /* NULL: it stands in line */
    vow_promise *running;   /* what use has returned, until that is settled */
    vow_value outcome;
    struct loan *next; /* in line */
};

struct pool {
    char *where;
    struct slot *at_home;
    struct loan *first, **last; /* who waits */
    size_t count;
    struct slot slots[];
};

/* ---------------------------------------------------------------- The line */

static struct loan *take_out(struct pool *pool, struct loan **place) {
    struct loan *loan = *place;
    *place = loan->next;
    if (loan->next == NULL) {
        pool->last = place;
    }
    return loan;
}

/* ---------------------------------------------------------------- There and back */

static void lend(struct loan *loan, struct slot *slot);

static void end_loan(struct loan *loan) {
    vow_resolver *resolver = loan->resolver;
    vow_value outcome = loan->outcome;
    if (loan->destroy != NULL) {
        loan->destroy(loan->context);
    }
    free(loan);
    vow_resolve(resolver, outcome); /* of a cancelled one it is released */
    vow_resolver_release(resolver);
}

static void come_home(struct slot *slot) {
    struct pool *pool = slot->pool;
    if (pool->first == NULL) {
        slot->next = pool->at_home;
        pool->at_home = slot;
    } else {
        lend(take_out(pool, &pool->first), slot);
    }
}

static vow_value mended(vow_value input, void *context) {
    struct loan *loan = context;
    (void)input;
    come_home(loan->slot);
    end_loan(loan);
    return vow_none();
}

/* use is through, and what it returned. */
static vow_value give_back(vow_value outcome, void *context) {
    struct loan *loan = context;
    vow_reaction then_mended = {.size = sizeof then_mended};
    loan->outcome = vow_value_retain(outcome);
    vow_promise_release(loan->running);
    loan->running = NULL;
    if (connection_is_fit(&loan->slot->connection)) {
        return mended(outcome, loan);
    }
    vow_promise *open = connection_open(&loan->slot->connection, loan->pool->where);
    then_mended.on_fulfilled = then_mended.on_rejected = mended;
    then_mended.context = loan;
    vow_detach(vow_then_with(vow_timeout(open, 5 * VOW_SECOND), &then_mended));
    return vow_none();
}

static void lend(struct loan *loan, struct slot *slot) {
    vow_reaction then_back = {.size = sizeof then_back};
    loan->slot = slot;
    loan->running =
        vow_then(vow_promise_with(vow_pointer(&slot->connection)), loan->use, loan->context);
    then_back.on_fulfilled = then_back.on_rejected = give_back;
    then_back.context = loan;
    vow_detach(vow_then_with(vow_promise_retain(loan->running), &then_back));
}

/* Cancelled, or nobody is left to read it: in line, in use, or on the way back. */
static void on_unwanted(void *context) {
    struct loan *loan = context;
    if (loan->slot == NULL) {
        struct loan **place = &loan->pool->first;
        while (*place != loan) {
            place = &(*place)->next;
        }
        end_loan(take_out(loan->pool, place));
    } else if (loan->running != NULL) {
        vow_cancel(loan->running);
    }
}

static vow_promise *without_memory(vow_resolver *resolver, vow_promise *promise, void *context,
                                   void (*destroy)(void *context)) {
    if (destroy != NULL) {
        destroy(context);
    }
    vow_reject(resolver, vow_error("vow", VOW_ENOMEM, "no memory to use a connection"));
    vow_resolver_release(resolver);
    return promise;
}

vow_promise *pool_use(struct pool *pool, vow_handler use, void *context,
                      void (*destroy)(void *context)) {
    vow_resolver *resolver;
    /* The connection must be back before the promise is settled. */
    vow_promise *promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
    struct loan *loan = calloc(1, sizeof *loan);
    if (loan == NULL || vow_resolver_on_cancel(resolver, on_unwanted, loan, NULL) != 0) {
        free(loan);
        return without_memory(resolver, promise, context, destroy);
    }
    loan->pool = pool;
    loan->use = use;
    loan->context = context;
    loan->destroy = destroy;
    loan->resolver = resolver;
    if (pool->at_home == NULL) {
        *pool->last = loan;
        pool->last = &loan->next;
    } else {
        struct slot *slot = pool->at_home;
        pool->at_home = slot->next;
        lend(loan, slot);
    }
    return promise;
}

/* ---------------------------------------------------------------- The whole */

struct pool *pool_create(const char *where, size_t count) {
    struct pool *pool = calloc(1, sizeof *pool + count * sizeof *pool->slots);
    if (pool == NULL || (pool->where = strdup(where)) == NULL) {
        free(pool);
        return NULL;
    }
    pool->last = &pool->first;
    pool->count = count;
    for (size_t i = 0; i < count; i++) {
        pool->slots[i].pool = pool;
        come_home(&pool->slots[i]);
    }
    return pool;
}

static vow_value open_one(vow_value connection, void *context) {
    const struct pool *pool = context;
    return vow_from_promise(connection_open(connection_of(connection), pool->where));
}

/* All of these are under way together, so each has another connection. */
vow_promise *pool_open(struct pool *pool) {
    vow_promise *all[pool->count];
    for (size_t i = 0; i < pool->count; i++) {
        all[i] = pool_use(pool, open_one, pool, NULL);
    }
    return vow_all(all, pool->count);
}

/* When all connections are waiting here, nobody else has one. */
static vow_value close_all(vow_value input, void *context) {
    struct pool *pool = context;
    size_t count = 0;
    (void)input;
    for (struct slot *slot = pool->at_home; slot != NULL; slot = slot->next, count++) {
        connection_close(&slot->connection);
    }
    free(pool->where);
    free(pool);
    return vow_int((int64_t)count);
}

struct meeting {
    size_t missing;
    vow_promise *complete;
    vow_resolver *resolver;
};

/* Each holds its connection until all have come. */
static vow_value meet(vow_value connection, void *context) {
    struct meeting *meeting = context;
    (void)connection;
    if (--meeting->missing == 0) {
        vow_resolve(meeting->resolver, vow_none());
    }
    return vow_from_promise(vow_promise_retain(meeting->complete));
}

static void end_meeting(void *context) {
    struct meeting *meeting = context;
    vow_promise_release(meeting->complete);
    vow_resolver_release(meeting->resolver);
    free(meeting);
}

vow_promise *pool_close(struct pool *pool) {
    vow_promise *all[pool->count];
    vow_reaction then_close = {.size = sizeof then_close};
    struct meeting *meeting = calloc(1, sizeof *meeting);
    if (meeting == NULL) {
        return vow_promise_with(vow_error("vow", VOW_ENOMEM, "no memory to close the pool"));
    }
    meeting->missing = pool->count;
    meeting->complete = vow_promise_create(&meeting->resolver);
    for (size_t i = 0; i < pool->count; i++) {
        all[i] = pool_use(pool, meet, meeting, NULL);
    }
    then_close.on_fulfilled = close_all;
    then_close.context = pool;
    vow_promise *closed = vow_then_with(vow_all(all, pool->count), &then_close);
    vow_reaction then_end = {.size = sizeof then_end};
    then_end.context = meeting;
    then_end.destroy = end_meeting;
    return vow_then_with(closed, &then_end);
}
