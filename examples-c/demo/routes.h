/* routes.h: what the shop answers to a request; knows nothing of sockets. */
#ifndef DEMO_ROUTES_H
#define DEMO_ROUTES_H

#include <stddef.h>

#include "http.h"
#include "sessions.h"

/* What is wrong with the shop, so that a failure can be seen for real. */
enum fault {
    FAULT_NONE,
    FAULT_REFUSE, /* its port is taken, but nobody listens there */
    FAULT_STATUS, /* a token has expired by the time it is used: 401 */
    FAULT_BODY,   /* the list breaks off in the middle, so it is no JSON */
    FAULT_HANG    /* a request for an item is read and never answered */
};

/* The user and the password that POST /token wants to see. */
#define SHOP_USER "ada"
#define SHOP_PASSWORD "analytical engine"

/* The answer to a complete request, as bytes to send (to be freed by the caller). NULL: none at
 * all, because of FAULT_HANG or for want of memory. */
char *routes_answer(struct sessions *sessions, enum fault fault, const struct http_message *request,
                    size_t *length);

#endif
