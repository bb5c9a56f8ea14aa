/* transaction.h: what is done inside a transaction is committed whole, or not at all. */
#ifndef POSTGRES_TRANSACTION_H
#define POSTGRES_TRANSACTION_H

#include "connection.h"

/* Begins a transaction on a connection, runs body with it (a VOW_POINTER), waits for the promise
 * that body returned, and commits. A promise (owned) of what body had to say.
 *
 * If body fails, or the promise is cancelled, it is rolled back. The promise is settled when that
 * is done: then the connection is in no transaction any more. destroy(context) (may be NULL) runs
 * once. */
vow_promise *transaction(struct connection *connection, vow_handler body, void *context,
                         void (*destroy)(void *context));

#endif
