/* orders.c: a small shop's books: what is committed, what is rolled back, and what a time-out
 * leaves.
 *
 *   orders WHERE        WHERE: a server, as libpq has it, where a table "orders" can be made */
#include "shop.h"
#include "transaction.h"

#define STILL_AT_WORK                                                                              \
    "select count(*) from pg_stat_activity "                                                       \
    "where state = 'active' and query like '%pg_sleep%' and pid <> pg_backend_pid()"
#define IDLE_IN_TRANSACTION                                                                        \
    "select count(*) from pg_stat_activity where state like 'idle in transaction%'"

/* ---------------------------------------------------------------- With a connection */

static vow_value ask_for_50_ms(vow_value connection, void *context) {
    return vow_from_promise(query(connection_of(connection), context, 50 * VOW_MS));
}

/* ---------------------------------------------------------------- An order */

struct order {
    const char *lamps;
    vow_resolver *written; /* NULL, or told that the row stands, and that there is time to think */
};

static vow_value think(vow_value answer, void *context) {
    const struct order *order = context;
    (void)answer;
    vow_resolve(order->written, vow_none());
    return vow_from_promise(vow_delay(VOW_SECOND * 60));
}

/* All of this is inside a transaction. */
static vow_value put_down(vow_value connection, void *context) {
    struct order *order = context;
    char sql[64];
    snprintf(sql, sizeof sql, "insert into orders values (%s)", order->lamps);
    vow_promise *row = query(connection_of(connection), sql, VOW_FOREVER);
    return vow_from_promise(order->written == NULL ? row : vow_then(row, think, order));
}

static vow_value in_transaction(vow_value connection, void *context) {
    return vow_from_promise(transaction(connection_of(connection), put_down, context, NULL));
}

static vow_value say_done(vow_value answer, void *context) {
    (void)answer, (void)context;
    return vow_string("written", VOW_NUL_TERMINATED);
}

static vow_promise *place(struct pool *pool, struct order *order) {
    return vow_then(pool_use(pool, in_transaction, order, NULL), say_done, NULL);
}

/* ---------------------------------------------------------------- The program */

static void visit(struct pool *pool) {
    struct order three = {.lamps = "3"}, none = {.lamps = "0"}, seven = {.lamps = "7"};

    show_result("an order for 3 lamps", place(pool, &three));
    show_result("an order for 0", place(pool, &none));

    vow_promise *written = vow_promise_create(&seven.written);
    vow_promise *order = place(pool, &seven);
    vow_value_release(wait_for(written));
    vow_resolver_release(seven.written);
    vow_cancel(order);
    show_result("one that is cancelled when its row is written", order);
    show_result("lamps in the books", ask_number(pool, "select sum(lamps) from orders"));

    /* The limit of a query is quiet: when it is told, the server has stopped. */
    show_result("a query that takes too long",
                pool_use(pool, ask_for_50_ms, "select pg_sleep(60)", NULL));
    show_result("still at work on it", ask_number(pool, STILL_AT_WORK));

    /* vow_timeout is prompt: it tells at once, and the connection comes home a little later. Who
     * asks for one then waits in line. */
    vow_promise *first = pool_use(pool, ask, "select pg_sleep(60)", NULL);
    vow_promise *second = pool_use(pool, ask, "select pg_sleep(60)", NULL);
    vow_promise *third = ask_number(pool, "select 42");
    show_result("while both are busy", vow_timeout(third, 20 * VOW_MS));
    show_result("the first", vow_timeout(first, 20 * VOW_MS));
    show_result("a third one then", ask_number(pool, "select 42"));
    vow_cancel(second);
    show_result("the second", second);

    show_result("idle in transaction", ask_number(pool, IDLE_IN_TRANSACTION));
}

int main(int count, char **arguments) {
    return run_shop(count, arguments, visit);
}
