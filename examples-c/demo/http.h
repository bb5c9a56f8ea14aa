/* http.h: HTTP/1.1 messages as bytes: reading one that arrives in pieces, and writing one. */
#ifndef DEMO_HTTP_H
#define DEMO_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum http_role { HTTP_REQUEST, HTTP_RESPONSE };
enum http_progress { HTTP_PARTIAL, HTTP_COMPLETE, HTTP_INVALID };

/* A message that is being read. The body starts at data + head and has body_length bytes. */
struct http_message {
    enum http_role role;
    char *data;
    size_t length, capacity;
    size_t head;         /* up to the body; 0 until the empty line has arrived */
    size_t body_length;  /* as Content-Length says */
    const char *problem; /* what is wrong, once invalid: a static string */
    char method[8];      /* of a request */
    char target[128];
    int status; /* of a response */
    char reason[64];
};

/* An empty message that waits for its first bytes. */
void http_begin(struct http_message *message, enum http_role role);

/* Appends bytes that arrived (borrowed), in pieces of any size, and says how far the message is.
 * Accepts bodies with a Content-Length only; a response must have one. Bytes behind the end of the
 * message are an error, as each connection here carries one message each way. */
enum http_progress http_feed(struct http_message *message, const char *bytes, size_t count);

/* Copies the value of the first header of that name (in any case) into buffer; false if there is
 * none or it does not fit. The head must be complete. */
bool http_header(const struct http_message *message, const char *name, char *buffer, size_t size);

/* Frees what the message holds. */
void http_end(struct http_message *message);

/* A whole message to send (to be freed by the caller): first line, headers that describe the body,
 * `headers` (lines that end in CRLF, may be empty) and the body. NULL when out of memory. */
char *http_format(const char *first_line, const char *headers, const char *body, size_t *length);

#endif
