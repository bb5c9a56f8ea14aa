/* transaction.c: vow_using, whose release rolls back what was not committed. */
#include "transaction.h"

#include <stdlib.h>
#include <string.h>

#include "query.h"

struct transaction {
    struct connection *connection;
    vow_handler body;
    void *context;
    void (*destroy)(void *context);
    bool begun;
    vow_value outcome; /* of body */
};

static void free_transaction(void *context) {
    struct transaction *transaction = context;
    if (transaction->destroy != NULL) {
        transaction->destroy(transaction->context);
    }
    vow_value_release(transaction->outcome);
    free(transaction);
}

static bool is_open(const struct connection *connection) {
    PGTransactionStatusType status = PQtransactionStatus(connection->pg);
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

static vow_value run_body(vow_value begun, void *context) {
    struct transaction *transaction = context;
    (void)begun;
    return transaction->body(vow_pointer(transaction->connection), transaction->context);
}

/* To COMMIT after an error that body has kept to itself the server answers "ROLLBACK", which is no
 * error to it. */
static vow_value after_commit(vow_value answer, void *context) {
    struct transaction *transaction = context;
    if (strcmp(PQcmdStatus((PGresult *)query_result(answer)), "COMMIT") != 0) {
        return vow_error(POSTGRES, 0, "the server has rolled the transaction back");
    }
    return vow_value_retain(transaction->outcome);
}

static vow_value commit(vow_value outcome, void *context) {
    struct transaction *transaction = context;
    transaction->outcome = vow_value_retain(outcome);
    vow_promise *committed = query(transaction->connection, "commit", VOW_FOREVER);
    return vow_from_promise(vow_then(committed, after_commit, transaction));
}

static vow_value run(vow_value connection, void *context) {
    struct transaction *transaction = context;
    if (is_open(connection_of(connection))) {
        return vow_error(POSTGRES, 0, "the connection is in a transaction already");
    }
    transaction->begun = true;
    vow_promise *done = query(transaction->connection, "begin", VOW_FOREVER);
    done = vow_then(done, run_body, transaction);
    return vow_from_promise(vow_then(done, commit, transaction));
}

/* The connection itself knows whether there is something to roll back: a BEGIN that was cancelled
 * may have come through, and so may a COMMIT. */
static vow_value roll_back(vow_value connection, void *context) {
    const struct transaction *transaction = context;
    if (!transaction->begun || !is_open(connection_of(connection))) {
        return vow_none();
    }
    return vow_from_promise(query(connection_of(connection), "rollback", VOW_FOREVER));
}

vow_promise *transaction(struct connection *connection, vow_handler body, void *context,
                         void (*destroy)(void *context)) {
    struct transaction *transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL) {
        if (destroy != NULL) {
            destroy(context);
        }
        return vow_promise_with(vow_error("vow", VOW_ENOMEM, "no memory for a transaction"));
    }
    transaction->connection = connection;
    transaction->body = body;
    transaction->context = context;
    transaction->destroy = destroy;
    return vow_using(vow_promise_with(vow_pointer(connection)), run, roll_back, transaction,
                     free_transaction);
}
