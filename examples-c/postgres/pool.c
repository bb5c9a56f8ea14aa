/* pool.c: a line of those who wait for a connection. That each one comes back is vow_using's job.
 */
#define _POSIX_C_SOURCE 200809L
#include "pool.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    struct connection connection; /* first, so that a pointer to it is one to the slot */
    struct pool *pool;
    struct slot *next; /* at home */
};

struct waiter {
    struct pool *pool;
    vow_resolver *resolver;
    struct waiter *next;
};

struct pool {
    char *where;
    struct slot *at_home;
    struct waiter *first, **last; /* who waits */
    size_t count;
    struct slot slots[];
};

/* ---------------------------------------------------------------- Who waits */

static struct waiter *take_out(struct pool *pool, struct waiter **place) {
    struct waiter *waiter = *place;
    *place = waiter->next;
    if (waiter->next == NULL) {
        pool->last = place;
    }
    return waiter;
}

/* Nobody wants the connection any more. */
static void leave(void *context) {
    struct waiter *waiter = context;
    struct waiter **place = &waiter->pool->first;
    while (*place != waiter) {
        place = &(*place)->next;
    }
    take_out(waiter->pool, place);
    vow_resolver_release(waiter->resolver);
}

static vow_promise *line_up(struct pool *pool) {
    struct waiter *waiter = calloc(1, sizeof *waiter);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    if (waiter == NULL || vow_resolver_on_cancel(resolver, leave, waiter, free) != 0 ||
        vow_promise_state(promise) != VOW_PENDING) { /* no memory for it: the waiter is freed */
        vow_reject(resolver, vow_error("vow", VOW_ENOMEM, "no memory to wait for a connection"));
        vow_resolver_release(resolver);
        return promise;
    }
    waiter->pool = pool;
    waiter->resolver = resolver;
    *pool->last = waiter;
    pool->last = &waiter->next;
    return promise;
}

/* ---------------------------------------------------------------- There and back */

/* A promise of a connection, which must come home. */
static vow_promise *take(struct pool *pool) {
    struct slot *slot = pool->at_home;
    if (slot == NULL) {
        return line_up(pool);
    }
    pool->at_home = slot->next;
    return vow_promise_with(vow_pointer(&slot->connection));
}

static vow_value come_home(vow_value input, void *context) {
    struct slot *slot = context;
    struct pool *pool = slot->pool;
    (void)input;
    if (pool->first == NULL) {
        slot->next = pool->at_home;
        pool->at_home = slot;
        return vow_none();
    }
    vow_resolver *resolver = take_out(pool, &pool->first)->resolver;
    vow_resolve(resolver, vow_pointer(&slot->connection)); /* the waiter is freed by now */
    vow_resolver_release(resolver);
    return vow_none();
}

static vow_value give_back(vow_value connection, void *context) {
    struct slot *slot = (struct slot *)connection_of(connection);
    vow_reaction home = {.size = sizeof home};
    (void)context;
    if (connection_is_fit(&slot->connection)) {
        return come_home(connection, slot);
    }
    vow_promise *mended = connection_open(&slot->connection, slot->pool->where);
    home.on_fulfilled = home.on_rejected = come_home;
    home.context = slot;
    return vow_from_promise(vow_then_with(vow_timeout(mended, 5 * VOW_SECOND), &home));
}

vow_promise *pool_use(struct pool *pool, vow_handler use, void *context,
                      void (*destroy)(void *context)) {
    return vow_using(take(pool), use, give_back, context, destroy);
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
        come_home(vow_none(), &pool->slots[i]);
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

static vow_value close_all(vow_value connections, void *context) {
    struct pool *pool = context;
    for (size_t i = 0; i < pool->count; i++) {
        connection_close(connection_of(vow_list_at(connections, i)));
    }
    free(pool->where);
    free(pool);
    return vow_int((int64_t)vow_list_count(connections));
}

vow_promise *pool_close(struct pool *pool) {
    vow_promise *all[pool->count];
    for (size_t i = 0; i < pool->count; i++) {
        all[i] = take(pool);
    }
    return vow_then(vow_all(all, pool->count), close_all, pool);
}
