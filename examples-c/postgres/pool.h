/* pool.h: some connections, each of which one user has at a time. */
#ifndef POSTGRES_POOL_H
#define POSTGRES_POOL_H

#include <stddef.h>

#include "connection.h"

struct pool;

/* A pool of `count` connections, not open yet. where (borrowed and copied): as libpq has it.
 * NULL: no memory. */
struct pool *pool_create(const char *where, size_t count);

/* Opens all connections. A promise (owned) of nothing, rejected if one could not be opened. */
vow_promise *pool_open(struct pool *pool);

/* Runs use with a connection (a VOW_POINTER) as soon as there is one, first come, first served, and
 * gives it back when use, and the promise that it returned, is through, however that ends. A
 * promise (owned) of what use had to say. destroy(context) (may be NULL) runs once.
 *
 * A connection that is given back and not fit any more is opened anew; if that fails, whoever is
 * the next to have it reads why, and it is tried again. */
vow_promise *pool_use(struct pool *pool, vow_handler use, void *context,
                      void (*destroy)(void *context));

/* Waits until every connection was given back, closes them and frees the pool (consumed). A promise
 * (owned) of their number. */
vow_promise *pool_close(struct pool *pool);

#endif
