/* client.h: an HTTP client whose answer is a promise. */
#ifndef DEMO_CLIENT_H
#define DEMO_CLIENT_H

#include <stdint.h>

#include "http.h"
#include "vow.h"

struct http_client;

/* What to ask for. All of it is borrowed during http_fetch. */
struct http_ask {
    unsigned port;      /* of 127.0.0.1 */
    const char *method; /* a static string */
    const char *target;
    const char *token;  /* for an Authorization header; NULL: none */
    const char *body;   /* "" for none */
    int64_t timeout_ns; /* for all of it, from connecting to the last byte */
};

/* What came back: the pointer of an object of this class is a struct http_answer. */
struct http_answer {
    char request[160];           /* "GET /list", for messages */
    struct http_message message; /* complete; its status may be any */
};
extern const vow_class http_answer_class;

/* Error domains: "network" has an errno as code, "http" a status of 400 and up that a step did not
 * want, or HTTP_MALFORMED. A time-out is VOW_ETIMEDOUT of the domain "vow". */
#define NETWORK_DOMAIN "network"
#define HTTP_DOMAIN "http"
#define HTTP_MALFORMED 1 /* the answer is no HTTP, or breaks off */

/* NULL when out of memory. */
struct http_client *http_client_create(void);

/* Asks, without waiting: from any thread. Returns a promise (owned) of a struct http_answer. */
vow_promise *http_fetch(struct http_client *client, const struct http_ask *ask);

/* To be called when the last promise of http_fetch is settled; the client is consumed. Returns a
 * promise (owned) that is fulfilled when the last connection is closed and all of it is freed. */
vow_promise *http_client_close(struct http_client *client);

#endif
