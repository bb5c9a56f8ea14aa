/* straight.c: the orders of orders.c as fibers: a transaction in straight lines.
 *
 *   straight WHERE        WHERE: a server, as libpq has it, where a table "orders" can be made */
#include "shop.h"

struct order {
    struct connection *connection;
    const char *sql;
    bool thinks;
};

/* A fiber's function. Each wait suspends it; no thread waits. A cancelled fiber's waits answer
 * VOW_REJECTED, except for a shield, so it comes to the rollback in any case. */
static vow_value write_order(vow_value none, void *context) {
    const struct order *order = context;
    struct connection *connection = order->connection;
    vow_value error = none;
    int state = vow_take(query(connection, "begin", VOW_FOREVER), VOW_FOREVER, &error);
    if (state == VOW_FULFILLED) {
        vow_value_release(error);
        state = vow_take(query(connection, order->sql, VOW_FOREVER), VOW_FOREVER, &error);
    }
    if (state == VOW_FULFILLED && order->thinks) {
        vow_value_release(error);
        state = vow_take(vow_delay(VOW_SECOND * 60), VOW_FOREVER, &error);
    }
    const char *end = state == VOW_FULFILLED ? "commit" : "rollback";
    vow_take(vow_shield(query(connection, end, VOW_FOREVER)), VOW_FOREVER, NULL);
    if (state != VOW_FULFILLED) {
        return error;
    }
    vow_value_release(error);
    return vow_string("written", VOW_NUL_TERMINATED);
}

/* The pool takes the connection back when the fiber's promise has settled. */
static vow_value with_connection(vow_value connection, void *context) {
    struct order *order = context;
    order->connection = connection_of(connection);
    return vow_from_promise(vow_fiber(NULL, write_order, order, NULL));
}

static void visit(struct pool *pool) {
    struct order three = {.sql = "insert into orders values (3)"};
    struct order none = {.sql = "insert into orders values (0)"};
    struct order seven = {.sql = "insert into orders values (7)", .thinks = true};
    show_result("an order for 3 lamps", pool_use(pool, with_connection, &three, NULL));
    show_result("an order for 0", pool_use(pool, with_connection, &none, NULL));
    show_result("one whose time is up while it thinks",
                vow_timeout(pool_use(pool, with_connection, &seven, NULL), 200 * VOW_MS));
    show_result("lamps in the books", ask_number(pool, "select sum(lamps) from orders"));
}

int main(int count, char **arguments) {
    return run_shop(count, arguments, visit);
}
