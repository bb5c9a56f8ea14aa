/* sessions.c: a table of sessions; a token starts with its place there, the rest is secret. */
#include "sessions.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static bool add_room(struct sessions *sessions) {
    if (sessions->count < sessions->capacity) {
        return true;
    }
    size_t capacity = sessions->capacity == 0 ? 16 : sessions->capacity * 2;
    if (capacity > UINT32_MAX) {
        return false; /* eight digits of a token could not name the place */
    }
    struct session *all = realloc(sessions->all, capacity * sizeof *all);
    if (all == NULL) {
        return false;
    }
    sessions->all = all;
    sessions->capacity = capacity;
    return true;
}

struct session *sessions_add(struct sessions *sessions) {
    uint32_t random[3 + SESSION_ITEMS];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random || !add_room(sessions)) {
        return NULL;
    }
    struct session *session = &sessions->all[sessions->count];
    memset(session, 0, sizeof *session);
    snprintf(session->token, sizeof session->token, "%08x%08x%08x%08x", (unsigned)sessions->count,
             (unsigned)random[0], (unsigned)random[1], (unsigned)random[2]);
    for (int i = 0; i < SESSION_ITEMS; i++) {
        /* The place in front keeps the ids of one session apart. */
        session->ids[i] = (i + 1) * 1000000L + (long)(random[3 + i] % 1000000);
    }
    sessions->count++;
    return session;
}

struct session *sessions_find(const struct sessions *sessions, const char *token) {
    char digits[9] = {0};
    char *end;
    if (strlen(token) != SESSION_TOKEN_SIZE - 1) {
        return NULL;
    }
    memcpy(digits, token, 8);
    unsigned long place = strtoul(digits, &end, 16);
    if (*end != '\0' || place >= sessions->count) {
        return NULL;
    }
    struct session *session = &sessions->all[place];
    return strcmp(session->token, token) == 0 && !session->expired ? session : NULL;
}

void sessions_end(struct sessions *sessions) {
    free(sessions->all);
    memset(sessions, 0, sizeof *sessions);
}
