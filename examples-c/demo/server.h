/* server.h: the shop as an HTTP server on a loopback port, inside this process. */
#ifndef DEMO_SERVER_H
#define DEMO_SERVER_H

#include "routes.h"
#include "vow.h"

struct server;

/* A server on a free port of 127.0.0.1. NULL: *error is the errno. */
struct server *server_start(enum fault fault, int *error);

/* The port that it was given. */
unsigned server_port(const struct server *server);

/* Closes the port and every connection, and frees the server (consumed). Returns a promise (owned)
 * that is fulfilled when all of it is gone. */
vow_promise *server_stop(struct server *server);

#endif
