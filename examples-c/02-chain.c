/* 02-chain.c: steps that each need the answer of the one before, as a flat chain. */
#include <string.h>

#include "common.h"

/* Two questions that a slow service answers later, on some other thread. The "service" is a
 * handler on the pool; what matters is that each function returns at once, with a promise. */
static vow_value find_user(vow_value input, void *context) {
    (void)input;
    return vow_int(strcmp(context, "ada") == 0 ? 7 : 0);
}

static vow_promise *ask_user_number(const char *name) {
    return vow_async(NULL, find_user, (void *)name);
}

static vow_value find_orders(vow_value input, void *context) {
    (void)input, (void)context;
    vow_value prices[] = {vow_int(1200), vow_int(350), vow_int(99)};
    return vow_list(prices, 3);
}

static vow_promise *ask_orders_of(int64_t user) {
    printf("asking for the orders of user %" PRId64 "\n", user);
    return vow_async(NULL, find_orders, NULL);
}

/* A handler may return a promise: the chain then goes on with what that promise brings. */
static vow_value then_orders(vow_value user, void *context) {
    (void)context;
    return vow_from_promise(ask_orders_of(user.as.integer));
}

/* The input is borrowed, and so are the items of a list: nothing to release here. */
static vow_value then_sum(vow_value orders, void *context) {
    (void)context;
    int64_t sum = 0;
    for (size_t i = 0; i < vow_list_count(orders); i++) {
        sum += vow_list_at(orders, i).as.integer;
    }
    printf("adding up %zu prices\n", vow_list_count(orders));
    return vow_int(sum);
}

/* The context is the handler's second argument, here the counter of a caller. */
static vow_value then_count(vow_value sum, void *context) {
    int *calls = context;
    *calls += 1;
    return vow_value_retain(sum); /* to return its input, a handler retains it */
}

int main(void) {
    int calls = 0;

    /* Each vow_then consumes the promise it is given and returns a new one, so that there is
     * always exactly one handle to look after. */
    vow_promise *chain = ask_user_number("ada");
    chain = vow_then(chain, then_orders, NULL);
    chain = vow_then(chain, then_sum, NULL);
    chain = vow_then(chain, then_count, &calls);

    show_result("total in cents", chain);
    printf("last step ran: %d time\n", calls);
    return 0;
}
