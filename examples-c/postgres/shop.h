/* shop.h: what orders.c and straight.c share: the table, questions to it, and the way into and out
 * of the program. */
#ifndef POSTGRES_SHOP_H
#define POSTGRES_SHOP_H

#include <signal.h>

#include "../common.h"
#include "pool.h"
#include "query.h"

#define MAKE_TABLE                                                                                 \
    "drop table if exists orders;"                                                                 \
    "create table orders (lamps int check (lamps > 0))"

/* Asks what the context says. */
static inline vow_value ask(vow_value connection, void *context) {
    return vow_from_promise(query(connection_of(connection), context, VOW_FOREVER));
}

static inline vow_value number_of(vow_value answer, void *context) {
    (void)context;
    return vow_int(query_number(answer));
}

static inline vow_promise *ask_number(struct pool *pool, const char *sql) {
    return vow_then(pool_use(pool, ask, (void *)sql, NULL), number_of, NULL);
}

/* The work of main: calls visit with a pool of two connections and an empty table. */
static inline int run_shop(int count, char **arguments, void (*visit)(struct pool *pool)) {
    signal(SIGPIPE, SIG_IGN); /* as query.h asks for */
    vow_loop *loop = vow_loop_create();
    struct pool *pool = count == 2 ? pool_create(arguments[1], 2) : NULL;
    if (loop == NULL || pool == NULL) {
        fprintf(stderr, "usage: %s WHERE\n", arguments[0]);
        return 2;
    }
    vow_value opened = wait_for(pool_open(pool));
    if (opened.kind == VOW_ERROR) {
        show("the server cannot be reached", opened);
    } else {
        vow_value_release(wait_for(pool_use(pool, ask, MAKE_TABLE, NULL)));
        visit(pool);
    }
    show_result("connections that came home", pool_close(pool));
    vow_loop_destroy(loop);
    int status = nothing_left();
    status |= opened.kind == VOW_ERROR;
    vow_value_release(opened);
    return status;
}

#endif
