/* chain.c: POST /token, GET /list, GET /items/<id>; no step checks for the failure of another. */
#include "chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "routes.h"
#include "shared.h"

/* What one run carries from step to step. */
struct chain {
    struct shared shared;
    const struct chain_plan *plan;
    char token[128];
    int64_t id;
};

static const struct http_answer *answer_of(vow_value value) {
    return vow_object_pointer(value, &http_answer_class);
}

static vow_value unfit(vow_value input, int64_t code, const char *what) {
    char text[320];
    snprintf(text, sizeof text, "%s: %s", answer_of(input)->request, what);
    return vow_error(SHOP_DOMAIN, code, text);
}

/* The link behind every request: an answer other than 200, or one that is no JSON, is an error. */
static vow_value accept_answer(vow_value input, void *context) {
    const struct http_answer *answer = answer_of(input);
    const struct http_message *message = &answer->message;
    struct json body;
    size_t problem;
    char text[320];
    (void)context;
    if (message->status != 200) {
        snprintf(text, sizeof text, "%s: %d %s", answer->request, message->status, message->reason);
        return vow_error(HTTP_DOMAIN, message->status, text);
    }
    if (!json_check(message->data + message->head, message->body_length, &body, &problem)) {
        char what[64];
        snprintf(what, sizeof what, "the body is no JSON from byte %zu on", problem);
        return unfit(input, SHOP_NO_JSON, what);
    }
    return vow_value_retain(input);
}

static vow_promise *ask(const struct chain *chain, const char *method, const char *target,
                        const char *token, const char *body) {
    struct http_ask ask = {
        .port = chain->plan->port,
        .method = method,
        .target = target,
        .token = token,
        .body = body,
        .timeout_ns = chain->plan->timeout_ns,
    };
    return vow_then(http_fetch(&ask), accept_answer, NULL);
}

/* The body of an answer that accept_answer let pass. */
static struct json body_of(vow_value input) {
    const struct http_message *message = &answer_of(input)->message;
    struct json body;
    size_t problem;
    json_check(message->data + message->head, message->body_length, &body, &problem);
    return body;
}

/* A token goes into a header, so it may be of visible characters only. */
static bool fit_for_header(const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~') {
            return false;
        }
    }
    return *text != '\0';
}

/* {"token":"..."} */
static vow_value then_list(vow_value input, void *context) {
    struct chain *chain = context;
    struct json token;
    if (!json_member(body_of(input), "token", &token) ||
        !json_string(token, chain->token, sizeof chain->token) || !fit_for_header(chain->token)) {
        return unfit(input, SHOP_UNFIT, "there is no usable \"token\"");
    }
    if (chain->plan->verbose) {
        printf("1. POST /token: the token is %s\n", chain->token);
    }
    return vow_from_promise(ask(chain, "GET", "/list", chain->token, ""));
}

/* {"items":[{"id":1,"name":"..."},...]} */
static vow_value then_item(vow_value input, void *context) {
    struct chain *chain = context;
    struct json items, item, id;
    size_t count = json_member(body_of(input), "items", &items) ? json_count(items) : 0;
    if (count == 0 || !json_item(items, count - 1, &item) || !json_member(item, "id", &id) ||
        !json_integer(id, &chain->id)) {
        return unfit(input, SHOP_UNFIT, "there is no item with an \"id\"");
    }
    if (chain->plan->verbose) {
        printf("2. GET /list: %zu items, the last one has the id %" PRId64 "\n", count, chain->id);
    }
    char target[40];
    snprintf(target, sizeof target, "/items/%" PRId64, chain->id);
    return vow_from_promise(ask(chain, "GET", target, chain->token, ""));
}

/* {"id":1,"name":"...","price":1} */
static vow_value then_result(vow_value input, void *context) {
    struct chain *chain = context;
    struct json item = body_of(input), id, name, price;
    int64_t number, cents;
    char text[64], result[160];
    if (!json_member(item, "id", &id) || !json_integer(id, &number) || number != chain->id) {
        return unfit(input, SHOP_UNFIT, "it is not the item that was asked for");
    }
    if (!json_member(item, "name", &name) || !json_string(name, text, sizeof text) ||
        !json_member(item, "price", &price) || !json_integer(price, &cents) || cents < 0) {
        return unfit(input, SHOP_UNFIT, "the item has no usable \"name\" and \"price\"");
    }
    snprintf(result, sizeof result, "%s for %" PRId64 ".%02d", text, cents / 100,
             (int)(cents % 100));
    if (chain->plan->verbose) {
        printf("3. %s: %s\n", answer_of(input)->request, result);
    }
    return vow_string(result, VOW_NUL_TERMINATED);
}

vow_promise *chain_run(const struct chain_plan *plan) {
    static const char login[] = "{\"user\":\"" SHOP_USER "\",\"password\":\"" SHOP_PASSWORD "\"}";
    struct chain *chain = calloc(1, sizeof *chain);
    if (chain == NULL) {
        return vow_promise_with(vow_error("vow", VOW_ENOMEM, "no memory for a chain"));
    }
    shared_begin(&chain->shared, free);
    chain->plan = plan;
    vow_promise *promise = ask(chain, "POST", "/token", NULL, login);
    promise = shared_then(promise, then_list, chain);
    promise = shared_then(promise, then_item, chain);
    promise = shared_then(promise, then_result, chain);
    shared_drop(chain); /* the steps hold it */
    return promise;
}

int chain_wait(const struct chain_plan *plan, vow_promise *promise, vow_value *out) {
    if (plan->loop != NULL) {
        vow_loop_run_until(plan->loop, promise, VOW_FOREVER);
    }
    int state = vow_await(promise, VOW_FOREVER, out);
    vow_promise_release(promise);
    return state;
}
