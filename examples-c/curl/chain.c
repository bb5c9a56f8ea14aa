/* chain.c: three requests that each need the answer of the one before, through libcurl. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../common.h"
#include "fetch.h"
#include "site.h"

/* ---------------------------------------------------------------- The shop
 *
 *   /token              a new token
 *   /list?TOKEN         item numbers, one in each line
 *   /item/NUMBER?TOKEN  the item
 *   /closed?            never answers
 *
 * Token and numbers differ from run to run: a client that has not read the answer before cannot
 * ask the next question. */

struct shop {
    char token[16];
    unsigned first; /* of three item numbers */
};

static int shop_answer(const char *path, char *body, size_t size, void *context) {
    struct shop *shop = context;
    const char *token = strchr(path, '?');
    unsigned number;
    if (strcmp(path, "/token") == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(shop->token, sizeof shop->token, "t%09ld", now.tv_nsec);
        shop->first = (unsigned)(now.tv_nsec % 90000) + 10000;
        snprintf(body, size, "%s", shop->token);
        return 200;
    }
    if (strncmp(path, "/closed?", 8) == 0) {
        return SITE_HANG;
    }
    if (token == NULL || shop->token[0] == '\0' || strcmp(token + 1, shop->token) != 0) {
        snprintf(body, size, "who are you?");
        return 401;
    }
    if (strncmp(path, "/list?", 6) == 0) {
        snprintf(body, size, "%u\n%u\n%u\n", shop->first, shop->first + 1, shop->first + 2);
        return 200;
    }
    if (sscanf(path, "/item/%u?", &number) == 1 && number == shop->first + 2) {
        snprintf(body, size, "a lamp for 12.00");
        return 200;
    }
    return 404;
}

/* ---------------------------------------------------------------- The chain */

struct visit {
    unsigned port;
    char token[16];
};

/* GET http://127.0.0.1:port/what?token */
static vow_promise *ask(const struct visit *visit, const char *what) {
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/%s?%s", visit->port, what, visit->token);
    return fetch(url);
}

static vow_promise *ask_token(const struct visit *visit) {
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/token", visit->port);
    return fetch(url);
}

static vow_value then_list(vow_value token, void *context) {
    struct visit *visit = context;
    snprintf(visit->token, sizeof visit->token, "%s", vow_string_bytes(token, NULL));
    printf("1. a token\n");
    return vow_from_promise(ask(visit, "list"));
}

/* The last of the numbers. */
static vow_value then_item(vow_value list, void *context) {
    unsigned first, second, third;
    char what[32];
    if (sscanf(vow_string_bytes(list, NULL), "%u %u %u", &first, &second, &third) != 3) {
        return vow_error("shop", 1, "there are not three items");
    }
    printf("2. a list\n");
    snprintf(what, sizeof what, "item/%u", third);
    return vow_from_promise(ask(context, what));
}

/* ---------------------------------------------------------------- What can go wrong */

/* Every failure of every step arrives here. */
static vow_value on_failure(vow_value error, void *context) {
    printf("%s: error %s %" PRId64 "\n", (const char *)context, vow_error_domain(error),
           vow_error_code(error));
    return vow_none();
}

static vow_promise *visit_shop(struct visit *visit) {
    vow_promise *item = vow_then(ask_token(visit), then_list, visit);
    return vow_then(item, then_item, visit);
}

/* The program has no other event loop, so waiting runs Vow's. */
static void wait_until(vow_promise *promise) {
    vow_value_release(wait_for(promise));
}

int main(void) {
    struct shop shop = {.first = 0};
    struct site *site = site_start(shop_answer, &shop);
    vow_loop *loop = vow_loop_create();
    if (site == NULL || loop == NULL || !fetch_begin()) {
        return 1;
    }
    struct visit visit = {.port = site_port(site)}, stranger = visit;

    show_result("3. an item", visit_shop(&visit));

    wait_until(vow_catch(ask(&stranger, "list"), on_failure, "without a token"));

    vow_promise *closed = vow_timeout(ask(&visit, "closed"), 20 * VOW_MS);
    wait_until(vow_catch(closed, on_failure, "no answer for 20 ms"));

    vow_promise *unwanted = ask(&visit, "list");
    vow_cancel(unwanted);
    wait_until(vow_catch(unwanted, on_failure, "cancelled"));
    printf("transfers that libcurl still has: %zu\n", fetch_running());

    site_stop(site);
    wait_until(vow_catch(visit_shop(&visit), on_failure, "the shop is gone"));

    fetch_end();
    vow_loop_destroy(loop);
    return nothing_left();
}
