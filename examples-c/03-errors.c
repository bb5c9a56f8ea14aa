/* 03-errors.c: errors skip to the next catch, which recovers or rejects; finally always runs. */
#include <string.h>

#include "common.h"

/* Errors have a domain (whose codes these are), a code and a message. */
#define SHOP "shop"
#define SHOP_SOLD_OUT 1
#define SHOP_NO_ORDER 2

static vow_value reserve(vow_value article, void *context) {
    (void)context;
    if (strcmp(vow_string_bytes(article, NULL), "lamp") == 0) {
        return vow_error(SHOP, SHOP_SOLD_OUT, "no lamp is left"); /* returning an error rejects */
    }
    printf("  reserved\n");
    return vow_value_retain(article);
}

static vow_value pay(vow_value article, void *context) {
    (void)context;
    printf("  paid\n");
    return vow_value_retain(article);
}

/* Recovers from one error and lets every other one pass. */
static vow_value offer_candle(vow_value error, void *context) {
    (void)context;
    show("  caught", error);
    if (vow_error_code(error) == SHOP_SOLD_OUT) {
        return vow_string("candle", VOW_NUL_TERMINATED); /* a value: the chain goes on with it */
    }
    return vow_value_retain(error); /* the error: still rejected */
}

/* Adds what this level knows, and keeps the first error as the cause. */
static vow_value explain(vow_value error, void *context) {
    (void)context;
    return vow_error_wrap(SHOP, SHOP_NO_ORDER, "the order was not placed", vow_value_retain(error));
}

/* Runs in any case. Its result does not change the outcome, unless it is itself an error. */
static vow_value close_till(vow_value outcome, void *context) {
    (void)outcome, (void)context;
    printf("  till closed\n");
    return vow_none();
}

static vow_promise *wish(const char *article) {
    return vow_promise_with(vow_string(article, VOW_NUL_TERMINATED));
}

int main(void) {
    printf("nothing goes wrong:\n");
    vow_promise *order = vow_then(wish("table"), reserve, NULL);
    order = vow_then(order, pay, NULL);
    order = vow_catch(order, offer_candle, NULL); /* skipped */
    order = vow_finally(order, close_till, NULL);
    show_result("  ends with", order);

    printf("an error, and a catch that recovers:\n");
    order = vow_then(wish("lamp"), reserve, NULL);
    order = vow_catch(order, offer_candle, NULL);
    order = vow_then(order, pay, NULL);
    order = vow_finally(order, close_till, NULL);
    show_result("  ends with", order);

    printf("an error, and a catch that explains it:\n");
    order = vow_then(wish("lamp"), reserve, NULL);
    order = vow_then(order, pay, NULL); /* skipped */
    order = vow_finally(order, close_till, NULL);
    order = vow_catch(order, explain, NULL);
    vow_value outcome = wait_for(order);
    show("  ends with", outcome);
    show("  because of", vow_error_payload(outcome)); /* borrowed from the outer error */
    vow_value_release(outcome);
    return 0;
}
