/* client.h: an HTTP client whose answer is a promise. */
#ifndef DEMO_CLIENT_H
#define DEMO_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "http.h"
#include "vow.h"

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
 * want, or HTTP_MALFORMED. A time-out is VOW_ETIMEDOUT of the domain "vow". Messages begin with the
 * request, and the payload is the error that it was at first. */
#define NETWORK_DOMAIN "network"
#define HTTP_DOMAIN "http"
#define HTTP_MALFORMED 1 /* the answer is no HTTP, or breaks off */

/* Asks, without waiting. Returns a promise (owned) of a struct http_answer. On the thread of a
 * vow_loop everything happens on that loop; elsewhere libdispatch watches the socket, and the
 * handlers run on the pool. The socket is closed when the promise settles; one that timed out, or
 * is cancelled, as soon as no handler uses it any more. */
vow_promise *http_fetch(const struct http_ask *ask);

/* How many sockets are open, and how many threads have ever used one. */
size_t http_sockets_open(void);
size_t http_threads(void);

#endif
