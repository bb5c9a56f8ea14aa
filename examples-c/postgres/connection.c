/* connection.c: libpq says which event it waits for; vow_fd_ready waits. */
#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- Errors */

vow_value connection_failure(const char *sqlstate, const char *text) {
    char words[512];
    snprintf(words, sizeof words, "%.*s", (int)strcspn(text, "\n"), text);
    if (sqlstate == NULL) {
        return vow_error(POSTGRES, 0, words);
    }
    return vow_error_wrap(POSTGRES, strtol(sqlstate, NULL, 36), words,
                          vow_string(sqlstate, VOW_NUL_TERMINATED));
}

vow_value connection_error(const struct connection *connection) {
    return connection_failure(NULL, PQerrorMessage(connection->pg));
}

/* ---------------------------------------------------------------- Opening */

/* What the server says beside its answers is not for this program's standard error. */
static void ignore_notice(void *context, const char *text) {
    (void)context, (void)text;
}

static vow_value go_on(vow_value ready, void *context) {
    struct connection *connection = context;
    (void)ready;
    connection->polling = PQconnectPoll(connection->pg);
    if (connection->polling == PGRES_POLLING_FAILED ||
        (connection->polling == PGRES_POLLING_OK && PQsetnonblocking(connection->pg, 1) != 0)) {
        return connection_error(connection);
    }
    return vow_none();
}

static bool is_opening(vow_value state, void *context) {
    const struct connection *connection = context;
    (void)state;
    return connection->polling != PGRES_POLLING_OK;
}

/* libpq may take another socket for each step: it tries all addresses. */
static vow_value wait_for_server(vow_value state, void *context) {
    struct connection *connection = context;
    uint32_t event = connection->polling == PGRES_POLLING_READING ? VOW_READ : VOW_WRITE;
    vow_promise *ready = vow_fd_ready(PQsocket(connection->pg), event);
    (void)state;
    return vow_from_promise(vow_then(ready, go_on, connection));
}

vow_promise *connection_open(struct connection *connection, const char *where) {
    connection_close(connection);
    connection->pg = PQconnectStart(where);
    if (PQstatus(connection->pg) == CONNECTION_BAD) {
        return vow_promise_with(connection_error(connection));
    }
    PQsetNoticeProcessor(connection->pg, ignore_notice, NULL);
    connection->polling = PGRES_POLLING_WRITING; /* as if PQconnectPoll had said so */
    return vow_repeat(vow_none(), is_opening, wait_for_server, connection);
}

bool connection_is_fit(const struct connection *connection) {
    return !connection->busy && PQstatus(connection->pg) == CONNECTION_OK &&
           PQtransactionStatus(connection->pg) == PQTRANS_IDLE;
}

void connection_close(struct connection *connection) {
    PQclear(connection->result);
    PQfinish(connection->pg);
    connection->result = NULL;
    connection->pg = NULL;
    connection->busy = false;
}
