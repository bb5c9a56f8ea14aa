/* site.h: a small HTTP server on a thread of its own, for the programs here to talk to.
 *
 * It keeps connections open, counts them, and fails on demand. It knows nothing of promises. */
#ifndef CURL_SITE_H
#define CURL_SITE_H

#include <stddef.h>

/* What is answered to GET path: the status, with the body written to `body` (at most size bytes,
 * NUL included). Runs on the server's thread. */
typedef int (*site_answer)(const char *path, char *body, size_t size, void *context);

/* As a status: breaks the connection in the middle of the answer; never answers. */
#define SITE_RESET (-1)
#define SITE_HANG (-2)

struct site;

struct site_counts {
    unsigned requests;
    unsigned peak; /* of connections that were open at the same time */
};

/* A server on a free port of 127.0.0.1. NULL if there cannot be one. */
struct site *site_start(site_answer answer, void *context);

/* The port that it was given. */
unsigned site_port(const struct site *site);

/* Closes everything, frees the server (consumed) and says what it has counted. */
struct site_counts site_stop(struct site *site);

#endif
