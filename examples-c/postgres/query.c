/* query.c: vow_using, whose use reads the answer, and whose release ends what is still under way.
 */
#include "query.h"

#include <stdlib.h>
#include <string.h>

struct query {
    struct connection *connection;
    int64_t limit_ns;
    bool sent;
    unsigned tries; /* so often the server was asked to stop */
    char sql[];
};

/* ---------------------------------------------------------------- Answers */

static void clear_result(void *result) {
    PQclear(result);
}

static const vow_class result_class = {sizeof(vow_class), "PGresult", clear_result, NULL};

const PGresult *query_result(vow_value answer) {
    return vow_object_pointer(answer, &result_class);
}

long query_number(vow_value answer) {
    const PGresult *result = query_result(answer);
    return PQntuples(result) < 1 || PQnfields(result) < 1 ? -1 : atol(PQgetvalue(result, 0, 0));
}

static bool is_copy(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* The last result, as an answer or an error. */
static vow_value answer_of(vow_value input, void *context) {
    struct connection *connection = context;
    PGresult *result = connection->result;
    ExecStatusType status = PQresultStatus(result);
    (void)input;
    connection->result = NULL;
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
        return vow_object(result, &result_class);
    }
    if (result == NULL) {
        return connection_error(connection);
    }
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (words == NULL) { /* not the server's, but libpq's */
        words = is_copy(result) ? "COPY is refused" : PQresultErrorMessage(result);
    }
    vow_value error = connection_failure(PQresultErrorField(result, PG_DIAG_SQLSTATE), words);
    PQclear(result);
    return error;
}

/* ---------------------------------------------------------------- Reading */

static bool is_busy(vow_value state, void *context) {
    const struct connection *connection = context;
    (void)state;
    return connection->busy;
}

/* Takes the results that have come, without blocking. */
static vow_value take_results(vow_value ready, void *context) {
    struct connection *connection = context;
    (void)ready;
    if (PQconsumeInput(connection->pg) == 0) {
        connection->busy = false; /* the connection is lost */
        return connection_error(connection);
    }
    while (connection->busy && PQisBusy(connection->pg) == 0) {
        PGresult *result = PQgetResult(connection->pg);
        if (result == NULL) {
            connection->busy = false;
        } else {
            PQclear(connection->result);
            connection->result = result;
            if (is_copy(result)) {
                PQfinish(connection->pg); /* no other way out that does not block */
                connection->pg = NULL;
                connection->busy = false;
            }
        }
    }
    return vow_none();
}

static vow_value read_some(vow_value state, void *context) {
    struct connection *connection = context;
    int left = PQflush(connection->pg);
    (void)state;
    if (left < 0) {
        connection->busy = false;
        return connection_error(connection);
    }
    uint32_t events = left == 0 ? VOW_READ : VOW_READ | VOW_WRITE;
    vow_promise *ready = vow_fd_ready(PQsocket(connection->pg), events);
    return vow_from_promise(vow_then(ready, take_results, connection));
}

static vow_promise *read_results(struct connection *connection) {
    return vow_repeat(vow_none(), is_busy, read_some, connection);
}

/* ---------------------------------------------------------------- Stopping */

/* PQcancel blocks, so it is called on a thread of the pool. It returns when the server has sent the
 * signal, so that this cannot hit the connection's next query. */
static vow_value ask_to_stop(vow_value input, void *context) {
    char problem[256];
    (void)input;
    PQcancel(context, problem, sizeof problem); /* that it failed shows: the query goes on */
    return vow_none();
}

static void free_cancel(void *context) {
    PQfreeCancel(context);
}

static vow_value read_rest(vow_value input, void *context) {
    struct query *query = context;
    (void)input;
    return vow_from_promise(vow_timeout(read_results(query->connection), 50 * VOW_MS));
}

static vow_value say_nothing(vow_value error, void *context) {
    (void)error, (void)context;
    return vow_none();
}

/* A query that the server has not begun does not hear that it is to stop: so it is asked again. */
static vow_value stop(vow_value state, void *context) {
    struct query *query = context;
    vow_call call = {.size = sizeof call};
    vow_reaction then_read = {.size = sizeof then_read};
    (void)state;
    query->tries++;
    call.context = PQgetCancel(query->connection->pg);
    call.destroy = free_cancel;
    call.executor = vow_executor_pool();
    then_read.on_fulfilled = then_read.on_rejected = read_rest;
    then_read.context = query;
    vow_promise *stopped = vow_then_with(vow_async_with(ask_to_stop, &call), &then_read);
    return vow_from_promise(vow_catch(stopped, say_nothing, NULL));
}

/* Five seconds; then the server is taken for dead. */
static bool is_to_stop(vow_value state, void *context) {
    const struct query *query = context;
    (void)state;
    return query->connection->busy && query->tries < 100;
}

static vow_value give_up(vow_value input, void *context) {
    struct query *query = context;
    (void)input;
    if (query->connection->busy) {
        connection_close(query->connection);
    }
    PQclear(query->connection->result);
    query->connection->result = NULL;
    return vow_none();
}

/* ---------------------------------------------------------------- The query */

static vow_value ask(vow_value input, void *context) {
    struct query *query = context;
    struct connection *connection = query->connection;
    (void)input;
    if (connection->busy) {
        return vow_error(POSTGRES, 0, "the connection is busy with another query");
    }
    if (PQstatus(connection->pg) != CONNECTION_OK || PQsendQuery(connection->pg, query->sql) == 0) {
        return connection_error(connection);
    }
    query->sent = connection->busy = true;
    vow_promise *answer = vow_then(read_results(connection), answer_of, connection);
    return vow_from_promise(vow_timeout(answer, query->limit_ns));
}

/* Runs in any case, and nothing cancels it. */
static vow_value end(vow_value input, void *context) {
    struct query *query = context;
    (void)input;
    if (!query->sent) {
        return vow_none();
    }
    return vow_from_promise(
        vow_then(vow_repeat(vow_none(), is_to_stop, stop, query), give_up, query));
}

vow_promise *query(struct connection *connection, const char *sql, int64_t limit_ns) {
    struct query *query = calloc(1, sizeof *query + strlen(sql) + 1);
    if (query == NULL) {
        return vow_promise_with(vow_error("vow", VOW_ENOMEM, "no memory for a query"));
    }
    query->connection = connection;
    query->limit_ns = limit_ns;
    strcpy(query->sql, sql);
    return vow_using(vow_promise_with(vow_pointer(connection)), ask, end, query, free);
}
