/* connection.h: a connection to PostgreSQL, opened without blocking. All is for the loop's thread.
 */
#ifndef POSTGRES_CONNECTION_H
#define POSTGRES_CONNECTION_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "vow.h"

/* The domain of errors; the code is the SQLSTATE read in base 36, and the payload is its text,
 * where the server has sent one. */
#define POSTGRES "postgres"

/* Zeroed: not open. */
struct connection {
    PGconn *pg;
    PostgresPollingStatusType polling; /* while it is being opened: what libpq waits for */
    PGresult *result;                  /* of the query under way: the last one so far */
    bool busy;                         /* a query is under way */
};

/* The connection that a handler is given as a VOW_POINTER. */
static inline struct connection *connection_of(vow_value value) {
    return value.as.pointer;
}

/* Opens a connection, which is closed before if need be. A promise (owned) of nothing. The
 * connection must live until that is settled; where it failed, it is not fit. */
vow_promise *connection_open(struct connection *connection, const char *where);

/* Open, and neither in a query nor in a transaction: somebody else can have it. */
bool connection_is_fit(const struct connection *connection);

/* What libpq says is wrong, as an error (owned). */
vow_value connection_error(const struct connection *connection);

/* An error (owned) with the first line of a text; the others give advice. sqlstate NULL: none. */
vow_value connection_failure(const char *sqlstate, const char *text);

void connection_close(struct connection *connection);

#endif
