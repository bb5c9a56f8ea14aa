/* client.c: http_fetch is a chain of its own: connected, sent, received, each when vow_fd_ready
 * says that the socket would not block. vow_timeout gives all of it a limit.
 *
 * One step follows the other, so an exchange needs no lock, whichever threads take the steps. */
#define _POSIX_C_SOURCE 200809L
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared.h"
#include "socket.h"

struct exchange {
    struct shared shared;
    int fd;            /* -1: none */
    char request[160]; /* does not change: a time-out may read it while a step runs */
    int64_t timeout_ns;
    char *bytes; /* the request, of which `sent` bytes have left */
    size_t length, sent;
    struct http_answer *answer; /* until it is given to the promise */
};

/* ---------------------------------------------------------------- Counters */

static atomic_size_t sockets, threads;

size_t http_sockets_open(void) {
    return atomic_load(&sockets);
}

size_t http_threads(void) {
    return atomic_load(&threads);
}

static void count_thread(void) {
    static _Thread_local bool counted;
    if (!counted) {
        counted = true;
        atomic_fetch_add(&threads, 1);
    }
}

/* ---------------------------------------------------------------- Values */

static void answer_destroy(void *pointer) {
    struct http_answer *answer = pointer;
    if (answer != NULL) {
        http_end(&answer->message);
        free(answer);
    }
}

const vow_class http_answer_class = {
    .size = sizeof(vow_class),
    .name = "http answer",
    .destroy = answer_destroy,
};

static vow_value network_error(int code) {
    return vow_error(NETWORK_DOMAIN, code, strerror(code));
}

static vow_value malformed(const char *problem) {
    return vow_error(HTTP_DOMAIN, HTTP_MALFORMED, problem);
}

/* ---------------------------------------------------------------- Steps */

/* A socket can be written to as soon as it is connected, or has failed to be. */
static vow_promise *begin_to_connect(struct exchange *exchange, unsigned port) {
    count_thread();
    int error = socket_connect(port, &exchange->fd);
    if (error != 0) {
        return vow_promise_with(network_error(error));
    }
    atomic_fetch_add(&sockets, 1);
    return vow_fd_ready(exchange->fd, VOW_WRITE);
}

static bool must_wait(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Ends a step with a promise of the next one, which holds the exchange: so its socket stays open
 * for as long as it is watched. A chain of such steps does not grow, however many there are. */
static vow_value when_ready(struct exchange *exchange, uint32_t events, vow_handler next) {
    vow_promise *ready = vow_fd_ready(exchange->fd, events);
    return vow_from_promise(shared_then(ready, next, exchange));
}

/* One piece of the answer, and then the next one. */
static vow_value receive_answer(vow_value ready, void *context) {
    struct exchange *exchange = context;
    struct http_answer *answer = exchange->answer;
    char bytes[16384];
    (void)ready;
    count_thread();
    ssize_t count = recv(exchange->fd, bytes, sizeof bytes, 0);
    if (count < 0) {
        return must_wait() ? when_ready(exchange, VOW_READ, receive_answer) : network_error(errno);
    }
    if (count == 0) {
        return malformed("the connection was closed before the answer was complete");
    }
    switch (http_feed(&answer->message, bytes, (size_t)count)) {
    case HTTP_PARTIAL:
        return when_ready(exchange, VOW_READ, receive_answer);
    case HTTP_INVALID:
        return malformed(answer->message.problem);
    default:
        exchange->answer = NULL;
        return vow_object(answer, &http_answer_class);
    }
}

/* What the socket does not take now, it takes later. */
static vow_value send_request(vow_value ready, void *context) {
    struct exchange *exchange = context;
    (void)ready;
    count_thread();
    while (exchange->sent < exchange->length) {
        ssize_t count = send(exchange->fd, exchange->bytes + exchange->sent,
                             exchange->length - exchange->sent, MSG_NOSIGNAL);
        if (count < 0) {
            return must_wait() ? when_ready(exchange, VOW_WRITE, send_request)
                               : network_error(errno);
        }
        exchange->sent += (size_t)count;
    }
    return when_ready(exchange, VOW_READ, receive_answer);
}

static vow_value on_connected(vow_value ready, void *context) {
    const struct exchange *exchange = context;
    int error = socket_error(exchange->fd);
    return error != 0 ? network_error(error) : send_request(ready, context);
}

/* Says which request it was that failed. */
static vow_value explain(vow_value error, void *context) {
    const struct exchange *exchange = context;
    const char *domain = vow_error_domain(error), *what = vow_error_message(error);
    int64_t code = vow_error_code(error);
    char limit[64], text[320];
    if (strcmp(domain, "vow") == 0 && code == VOW_ETIMEDOUT) {
        snprintf(limit, sizeof limit, "no answer within %lld ms",
                 (long long)(exchange->timeout_ns / VOW_MS));
        what = limit;
    }
    snprintf(text, sizeof text, "%s: %s", exchange->request, what);
    return vow_error_wrap(domain, code, text, vow_value_retain(error));
}

/* ---------------------------------------------------------------- All of it */

/* No step needs it any more, and nothing watches the socket. */
static void end_exchange(void *context) {
    struct exchange *exchange = context;
    if (exchange->fd >= 0) {
        close(exchange->fd);
        atomic_fetch_sub(&sockets, 1);
    }
    answer_destroy(exchange->answer);
    free(exchange->bytes);
    free(exchange);
}

/* False when out of memory, or when the parts are too long. */
static bool write_request(struct exchange *exchange, const struct http_ask *ask) {
    char first_line[256], headers[512];
    bool token = ask->token != NULL;
    int head = snprintf(first_line, sizeof first_line, "%s %s HTTP/1.1", ask->method, ask->target);
    int rest = snprintf(headers, sizeof headers, "Host: 127.0.0.1:%u\r\n%s%s%s", ask->port,
                        token ? "Authorization: Bearer " : "", token ? ask->token : "",
                        token ? "\r\n" : "");
    if (head >= (int)sizeof first_line || rest >= (int)sizeof headers) {
        return false;
    }
    exchange->bytes = http_format(first_line, headers, ask->body, &exchange->length);
    return exchange->bytes != NULL;
}

/* NULL: as write_request. */
static struct exchange *new_exchange(const struct http_ask *ask) {
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        return NULL;
    }
    shared_begin(&exchange->shared, end_exchange);
    exchange->fd = -1;
    exchange->timeout_ns = ask->timeout_ns;
    exchange->answer = calloc(1, sizeof *exchange->answer);
    if (exchange->answer == NULL || !write_request(exchange, ask)) {
        shared_drop(exchange);
        return NULL;
    }
    http_begin(&exchange->answer->message, HTTP_RESPONSE);
    snprintf(exchange->request, sizeof exchange->request, "%s %s", ask->method, ask->target);
    memcpy(exchange->answer->request, exchange->request, sizeof exchange->request);
    return exchange;
}

vow_promise *http_fetch(const struct http_ask *ask) {
    struct exchange *exchange = new_exchange(ask);
    if (exchange == NULL) {
        return vow_promise_with(
            vow_error(NETWORK_DOMAIN, ENOMEM, "the request could not be written"));
    }
    vow_promise *promise = begin_to_connect(exchange, ask->port);
    promise = shared_then(promise, on_connected, exchange); /* sends, then receives */
    promise = vow_timeout(promise, ask->timeout_ns);
    promise = shared_catch(promise, explain, exchange);
    shared_drop(exchange); /* the steps hold it */
    return promise;
}
