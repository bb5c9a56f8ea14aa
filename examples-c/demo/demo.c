/* demo.c: starts the shop and a client, runs what was asked for, and puts everything away. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "chain.h"
#include "client.h"
#include "options.h"
#include "server.h"
#include "vow.h"

/* What the catch got. */
struct caught {
    bool any;
    char domain[16];
    int64_t code;
};

/* How each fault has to arrive there. */
static const struct caught designed[] = {
    [FAULT_NONE] = {false, "", 0},
    [FAULT_REFUSE] = {true, NETWORK_DOMAIN, ECONNREFUSED},
    [FAULT_STATUS] = {true, HTTP_DOMAIN, 401},
    [FAULT_BODY] = {true, SHOP_DOMAIN, SHOP_NO_JSON},
    [FAULT_HANG] = {true, "vow", VOW_ETIMEDOUT},
};

/* The one catch, for every failure of every step. */
static vow_value on_failure(vow_value error, void *context) {
    struct caught *caught = context;
    caught->any = true;
    caught->code = vow_error_code(error);
    snprintf(caught->domain, sizeof caught->domain, "%s", vow_error_domain(error));
    printf("caught: %s %" PRId64 ", %s\n", caught->domain, caught->code, vow_error_message(error));
    return vow_none();
}

/* Runs one chain and prints each step. Whether it ended as designed. */
static bool run_once(const struct chain_plan *plan, enum fault fault) {
    struct caught caught = {false, "", 0};
    vow_value result;
    vow_promise *promise = vow_catch(chain_run(plan), on_failure, &caught);
    int state = vow_await(promise, VOW_FOREVER, &result);
    vow_promise_release(promise);

    const struct caught *wanted = &designed[fault];
    bool good = state == VOW_FULFILLED && caught.any == wanted->any &&
                caught.code == wanted->code && strcmp(caught.domain, wanted->domain) == 0;
    if (result.kind == VOW_STRING) {
        printf("result: %s\n", vow_string_bytes(result, NULL));
    } else if (good) {
        printf("the failure reached the one catch, as designed\n");
    }
    if (!good) {
        fprintf(stderr, "vow-demo: this is not how it had to end\n");
    }
    vow_value_release(result);
    return good;
}

/* Waits for a promise (consumed) of something that goes away. */
static void wait_until_gone(vow_promise *promise) {
    vow_await(promise, VOW_FOREVER, NULL);
    vow_promise_release(promise);
}

/* How many promises are alive once all threads rest. A thread that resolved what we waited for may
 * need a moment to give its own reference back. */
static uint64_t promises_left(void) {
    vow_statistics statistics = {.size = sizeof statistics};
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 2000; i++) {
        if (vow_stats(&statistics) == 0 && statistics.live == 0) {
            break;
        }
        nanosleep(&moment, NULL);
    }
    return statistics.live;
}

int main(int argument_count, char **arguments) {
    struct options options;
    enum options_answer answer = options_read(&options, argument_count, arguments);
    if (answer != OPTIONS_RUN) {
        return answer == OPTIONS_HELP ? 0 : 2;
    }

    int error;
    struct server *server = server_start(options.fault, &error);
    if (server == NULL) {
        fprintf(stderr, "vow-demo: no server: %s\n", strerror(error));
        return 1;
    }
    struct chain_plan plan = {
        .client = http_client_create(),
        .port = server_port(server),
        .timeout_ns = options.timeout_ns,
        .verbose = options.requests == 0,
    };
    bool good = false;
    if (plan.client == NULL) {
        fprintf(stderr, "vow-demo: no memory for a client\n");
    } else {
        printf("the shop %s 127.0.0.1:%u\n",
               options.fault == FAULT_REFUSE ? "does not listen on" : "listens on", plan.port);
        good = options.requests == 0 ? run_once(&plan, options.fault)
                                     : bench_run(&plan, options.requests, options.parallel);
        wait_until_gone(http_client_close(plan.client));
    }
    wait_until_gone(server_stop(server));

    uint64_t left = promises_left();
    printf("promises alive at the end: %" PRIu64 "\n", left);
    return good && left == 0 ? 0 : 1;
}
