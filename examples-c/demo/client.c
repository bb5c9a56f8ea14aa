/* client.c: one exchange (connect, send, receive) for each http_fetch, with a deadline.
 *
 * All exchanges of a client run on its one serial queue, so nothing needs a lock. An exchange holds
 * the resolver of its promise: `settle` uses it once, for whatever comes first, and then lets
 * stream and timer go. The memory is freed when both have said that they are gone. */
#define _POSIX_C_SOURCE 200809L
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

struct http_client {
    dispatch_queue_t queue;
    size_t references; /* one for each exchange and one for the owner; only on the queue */
    vow_resolver *closed;
};

struct exchange {
    struct http_client *client;
    int references;         /* the stream's, the timer's, and that of `begin` while it runs */
    vow_resolver *resolver; /* NULL once settled */
    struct stream *stream;  /* NULL: none yet, or none any more */
    dispatch_source_t timer;
    unsigned port;
    int64_t timeout_ns;
    char *bytes; /* the request, until it is given to the stream */
    size_t length;
    struct http_answer *answer; /* until it is given to the promise */
};

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

static void drop_client(struct http_client *client) {
    client->references--;
    if (client->references == 0) {
        vow_resolver *closed = client->closed;
        dispatch_release(client->queue);
        free(client);
        vow_resolve(closed, vow_none());
        vow_resolver_release(closed);
    }
}

static void free_exchange(struct exchange *exchange) {
    vow_resolver_release(exchange->resolver);
    answer_destroy(exchange->answer);
    free(exchange->bytes);
    free(exchange);
}

static void drop_exchange(void *context) {
    struct exchange *exchange = context;
    exchange->references--;
    if (exchange->references == 0) {
        struct http_client *client = exchange->client;
        free_exchange(exchange);
        drop_client(client);
    }
}

/* Resolves with value (consumed), which rejects if it is an error. Only the first call counts. */
static void settle(struct exchange *exchange, vow_value value) {
    vow_resolver *resolver = exchange->resolver;
    if (resolver == NULL) {
        vow_value_release(value);
        return;
    }
    exchange->resolver = NULL;
    if (exchange->timer != NULL) {
        dispatch_source_cancel(exchange->timer);
        dispatch_release(exchange->timer);
        exchange->timer = NULL;
    }
    if (exchange->stream != NULL) {
        stream_close(exchange->stream);
    }
    vow_resolve(resolver, value);
    vow_resolver_release(resolver);
}

static void settle_with_error(struct exchange *exchange, const char *domain, int64_t code,
                              const char *what) {
    char text[320];
    snprintf(text, sizeof text, "%s: %s", exchange->answer->request, what);
    settle(exchange, vow_error(domain, code, text));
}

static void on_data(void *context, const char *bytes, size_t count) {
    struct exchange *exchange = context;
    if (exchange->resolver == NULL) {
        return;
    }
    struct http_message *message = &exchange->answer->message;
    enum http_progress progress = http_feed(message, bytes, count);
    if (progress == HTTP_COMPLETE) {
        struct http_answer *answer = exchange->answer;
        exchange->answer = NULL;
        settle(exchange, vow_object(answer, &http_answer_class));
    } else if (progress == HTTP_INVALID) {
        settle_with_error(exchange, HTTP_DOMAIN, HTTP_MALFORMED, message->problem);
    }
}

static void on_sent(void *context) {
    (void)context; /* now the answer has to come */
}

static void on_ended(void *context, int error) {
    struct exchange *exchange = context;
    if (exchange->resolver == NULL) {
        return;
    }
    if (error != 0) {
        settle_with_error(exchange, NETWORK_DOMAIN, error, strerror(error));
    } else {
        settle_with_error(exchange, HTTP_DOMAIN, HTTP_MALFORMED,
                          "the connection was closed before the answer was complete");
    }
}

static void on_closed(void *context) {
    struct exchange *exchange = context;
    exchange->stream = NULL;
    drop_exchange(exchange);
}

static const struct stream_events exchange_events = {on_data, on_sent, on_ended, on_closed};

static void on_timeout(void *context) {
    struct exchange *exchange = context;
    if (exchange->resolver != NULL) {
        char what[64];
        snprintf(what, sizeof what, "no answer within %lld ms",
                 (long long)(exchange->timeout_ns / 1000000));
        settle_with_error(exchange, "vow", VOW_ETIMEDOUT, what);
    }
}

static bool start_timer(struct exchange *exchange) {
    dispatch_source_t timer =
        dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, exchange->client->queue);
    if (timer == NULL) {
        return false;
    }
    exchange->timer = timer;
    exchange->references++;
    dispatch_set_context(timer, exchange);
    dispatch_source_set_event_handler_f(timer, on_timeout);
    dispatch_source_set_cancel_handler_f(timer, drop_exchange);
    dispatch_source_set_timer(timer, dispatch_time(DISPATCH_TIME_NOW, exchange->timeout_ns),
                              DISPATCH_TIME_FOREVER, 1000000);
    dispatch_resume(timer);
    return true;
}

static void connect_and_send(struct exchange *exchange) {
    int fd = -1;
    bool connecting = false;
    int error = stream_connect(exchange->port, &fd, &connecting);
    if (error != 0) {
        settle_with_error(exchange, NETWORK_DOMAIN, error, strerror(error));
        return;
    }
    exchange->stream =
        stream_open(fd, connecting, exchange->client->queue, &exchange_events, exchange);
    if (exchange->stream == NULL) {
        close(fd);
        settle_with_error(exchange, NETWORK_DOMAIN, ENOMEM, strerror(ENOMEM));
        return;
    }
    exchange->references++;
    char *bytes = exchange->bytes;
    exchange->bytes = NULL;
    stream_send(exchange->stream, bytes, exchange->length);
}

/* The first step on the client's queue. */
static void begin(void *context) {
    struct exchange *exchange = context;
    exchange->client->references++;
    exchange->references = 1;
    if (start_timer(exchange)) {
        connect_and_send(exchange);
    } else {
        settle_with_error(exchange, NETWORK_DOMAIN, ENOMEM, strerror(ENOMEM));
    }
    drop_exchange(exchange);
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

vow_promise *http_fetch(struct http_client *client, const struct http_ask *ask) {
    struct exchange *exchange = calloc(1, sizeof *exchange);
    struct http_answer *answer = calloc(1, sizeof *answer);
    if (exchange != NULL) {
        exchange->answer = answer;
    }
    if (exchange == NULL || answer == NULL || !write_request(exchange, ask)) {
        if (exchange != NULL) {
            free_exchange(exchange);
        } else {
            free(answer);
        }
        return vow_promise_with(
            vow_error(NETWORK_DOMAIN, ENOMEM, "the request could not be written"));
    }
    snprintf(answer->request, sizeof answer->request, "%s %s", ask->method, ask->target);
    http_begin(&answer->message, HTTP_RESPONSE);
    exchange->client = client;
    exchange->port = ask->port;
    exchange->timeout_ns = ask->timeout_ns;
    vow_promise *promise = vow_promise_create(&exchange->resolver);
    dispatch_async_f(client->queue, exchange, begin);
    return promise;
}

struct http_client *http_client_create(void) {
    struct http_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return NULL;
    }
    client->references = 1;
    client->queue = dispatch_queue_create("demo.client", DISPATCH_QUEUE_SERIAL);
    if (client->queue == NULL) {
        free(client);
        return NULL;
    }
    return client;
}

static void close_now(void *context) {
    drop_client(context);
}

vow_promise *http_client_close(struct http_client *client) {
    vow_promise *promise = vow_promise_create(&client->closed);
    dispatch_async_f(client->queue, client, close_now);
    return promise;
}
