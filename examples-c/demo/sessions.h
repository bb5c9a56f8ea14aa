/* sessions.h: who has logged in: random tokens, and for each the items that its owner may see. */
#ifndef DEMO_SESSIONS_H
#define DEMO_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>

#define SESSION_ITEMS 3
#define SESSION_TOKEN_SIZE 33 /* 32 hexadecimal digits and NUL */

struct session {
    char token[SESSION_TOKEN_SIZE];
    bool expired;
    long ids[SESSION_ITEMS];
};

/* All sessions of one server. Zeroed: none. */
struct sessions {
    struct session *all;
    size_t count, capacity;
};

/* A new session with a token and item numbers that nobody can foresee (borrowed, until the next
 * call); NULL when out of memory or out of random bytes. */
struct session *sessions_add(struct sessions *sessions);

/* The session of a token, NULL for any other text and for an expired session. */
struct session *sessions_find(const struct sessions *sessions, const char *token);

/* Frees all of them. */
void sessions_end(struct sessions *sessions);

#endif
