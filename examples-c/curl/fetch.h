/* fetch.h: HTTP requests as promises: libcurl's multi interface inside a Vow loop. */
#ifndef CURL_FETCH_H
#define CURL_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "vow.h"

/* The domains of errors: a status of 400 or more, which is the code (the payload is the body); and
 * a transfer that failed, with a CURLcode. */
#define FETCH_HTTP "http"
#define FETCH_CURL "curl"

/* Begins, on the thread whose loop will do the work; all other functions are for that thread, too.
 * False: out of memory. */
bool fetch_begin(void);

/* A promise (owned) of what GET url (borrowed) answers, as a VOW_STRING. Cancelling it, or leaving
 * it with nobody to read it, takes the transfer off libcurl before that call returns. */
vow_promise *fetch(const char *url);

/* How many transfers libcurl has. */
size_t fetch_running(void);

/* Ends, before the loop does. No transfer may be left. */
void fetch_end(void);

#endif
