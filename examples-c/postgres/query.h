/* query.h: one query as a promise, which settles when the connection is free again. */
#ifndef POSTGRES_QUERY_H
#define POSTGRES_QUERY_H

#include "connection.h"

/* A promise (owned) of what the server answers to sql (borrowed and copied), an object whose result
 * query_result gives; of several answers the last. Rejected with an error of the domain POSTGRES,
 * or with VOW_ETIMEDOUT after limit_ns nanoseconds (VOW_FOREVER: no limit).
 *
 * When the time is up, or the promise is cancelled, the server is asked to stop. The promise is
 * settled when the server has: then the connection can be used for something else. COPY is refused,
 * and costs the connection. The program ignores SIGPIPE: libpq's PQcancel raises it where the
 * server goes in the middle of being asked. */
vow_promise *query(struct connection *connection, const char *sql, int64_t limit_ns);

/* The result in an answer (borrowed), borrowed; NULL for other values. */
const PGresult *query_result(vow_value answer);

/* The number in the first column of the first row of an answer (borrowed); -1 without. */
long query_number(vow_value answer);

#endif
