/* demo.c: starts the shop, runs what was asked for, and puts everything away. */
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
    int state = chain_wait(plan, promise, &result);

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

static bool run(const struct options *options, struct server *server, vow_loop *loop) {
    struct chain_plan plan = {
        .loop = loop,
        .port = server_port(server),
        .timeout_ns = options->timeout_ns,
        .verbose = options->requests == 0,
    };
    printf("the shop %s 127.0.0.1:%u\n",
           options->fault == FAULT_REFUSE ? "does not listen on" : "listens on", plan.port);
    bool good = options->requests == 0 ? run_once(&plan, options->fault)
                                       : bench_run(&plan, options->requests, options->parallel);
    chain_wait(&plan, server_stop(server), NULL);
    return good;
}

/* Ends Vow's work, which waits for the pool, and says what is left. The thread that resolved what
 * we waited for last may need a moment to give its own reference back. */
static bool nothing_left(void) {
    vow_statistics statistics = {.size = sizeof statistics};
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 2000 && vow_stats(&statistics) == 0 && statistics.live > 0; i++) {
        nanosleep(&moment, NULL);
    }
    int64_t promises = vow_shutdown(VOW_SECOND);
    size_t sockets = http_sockets_open();
    printf("threads of the client: %zu\n", http_threads());
    printf("sockets of the client still open: %zu\n", sockets);
    printf("promises alive at the end: %" PRId64 "\n", promises);
    return promises == 0 && sockets == 0;
}

int main(int argument_count, char **arguments) {
    struct options options;
    enum options_answer answer = options_read(&options, argument_count, arguments);
    if (answer != OPTIONS_RUN) {
        return answer == OPTIONS_HELP ? 0 : 2;
    }

    vow_loop *loop = options.loop ? vow_loop_create() : NULL;
    if (options.loop && loop == NULL) {
        fprintf(stderr, "vow-demo: no event loop\n");
        return 1;
    }
    int error;
    bool good = false;
    struct server *server = server_start(options.fault, &error);
    if (server == NULL) {
        fprintf(stderr, "vow-demo: no server: %s\n", strerror(error));
    } else {
        good = run(&options, server, loop);
    }
    vow_loop_destroy(loop);
    return nothing_left() && good ? 0 : 1;
}
