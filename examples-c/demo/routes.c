/* routes.c: POST /token, GET /list and GET /items/<id>. */
#include "routes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

static const char *const item_names[SESSION_ITEMS] = {"lamp", "table", "teapot"};
static const int item_prices[SESSION_ITEMS] = {1200, 8900, 2450};

static char *answer(const char *status, const char *body, size_t *length) {
    char first_line[64];
    snprintf(first_line, sizeof first_line, "HTTP/1.1 %s", status);
    return http_format(first_line, "", body, length);
}

static char *refuse(const char *status, const char *why, size_t *length) {
    char body[128];
    snprintf(body, sizeof body, "{\"error\":\"%s\"}", why);
    return answer(status, body, length);
}

/* Whether the member is the string that it has to be. */
static bool member_is(struct json object, const char *name, const char *wanted) {
    struct json member;
    char text[64];
    return json_member(object, name, &member) && json_string(member, text, sizeof text) &&
           strcmp(text, wanted) == 0;
}

static char *post_token(struct sessions *sessions, enum fault fault,
                        const struct http_message *request, size_t *length) {
    struct json body;
    size_t problem;
    if (!json_check(request->data + request->head, request->body_length, &body, &problem)) {
        return refuse("400 Bad Request", "the body is no JSON", length);
    }
    if (!member_is(body, "user", SHOP_USER) || !member_is(body, "password", SHOP_PASSWORD)) {
        return refuse("403 Forbidden", "wrong user or password", length);
    }
    struct session *session = sessions_add(sessions);
    if (session == NULL) {
        return refuse("503 Service Unavailable", "no session left", length);
    }
    session->expired = fault == FAULT_STATUS;
    char text[64];
    snprintf(text, sizeof text, "{\"token\":\"%s\"}", session->token);
    return answer("200 OK", text, length);
}

static char *get_list(const struct session *session, enum fault fault, size_t *length) {
    char text[256];
    int used = snprintf(text, sizeof text, "{\"items\":[");
    for (int i = 0; i < SESSION_ITEMS; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"id\":%ld,\"name\":\"%s\"}",
                         i == 0 ? "" : ",", session->ids[i], item_names[i]);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    if (fault == FAULT_BODY) {
        text[used / 2] = '\0';
    }
    return answer("200 OK", text, length);
}

static char *get_item(const struct session *session, const char *number, size_t *length) {
    for (int i = 0; i < SESSION_ITEMS; i++) {
        char id[24];
        snprintf(id, sizeof id, "%ld", session->ids[i]);
        if (strcmp(id, number) == 0) {
            char text[128];
            snprintf(text, sizeof text, "{\"id\":%s,\"name\":\"%s\",\"price\":%d}", id,
                     item_names[i], item_prices[i]);
            return answer("200 OK", text, length);
        }
    }
    return refuse("404 Not Found", "no such item", length);
}

/* The session that the request proves to have; NULL if it does not. */
static struct session *authorized(const struct sessions *sessions,
                                  const struct http_message *request) {
    char value[128];
    if (!http_header(request, "Authorization", value, sizeof value) ||
        strncmp(value, "Bearer ", 7) != 0) {
        return NULL;
    }
    return sessions_find(sessions, value + 7);
}

char *routes_answer(struct sessions *sessions, enum fault fault, const struct http_message *request,
                    size_t *length) {
    bool get = strcmp(request->method, "GET") == 0, post = strcmp(request->method, "POST") == 0;
    bool token = strcmp(request->target, "/token") == 0;
    bool list = strcmp(request->target, "/list") == 0;
    bool item = strncmp(request->target, "/items/", 7) == 0;
    if (!token && !list && !item) {
        return refuse("404 Not Found", "no such path", length);
    }
    if (token ? !post : !get) {
        return refuse("405 Method Not Allowed", "not with this method", length);
    }
    if (token) {
        return post_token(sessions, fault, request, length);
    }
    const struct session *session = authorized(sessions, request);
    if (session == NULL) {
        return refuse("401 Unauthorized", "the token is not valid", length);
    }
    if (list) {
        return get_list(session, fault, length);
    }
    return fault == FAULT_HANG ? NULL : get_item(session, request->target + 7, length);
}
