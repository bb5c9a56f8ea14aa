/* http.c: reads HTTP/1.1 messages strictly, in pieces of any size, and writes them. */
#define _POSIX_C_SOURCE 200809L
#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_HEAD 8192
#define LONGEST_BODY (1024 * 1024)

void http_begin(struct http_message *message, enum http_role role) {
    memset(message, 0, sizeof *message);
    message->role = role;
}

void http_end(struct http_message *message) {
    free(message->data);
    message->data = NULL;
}

static bool fail(struct http_message *message, const char *problem) {
    message->problem = problem;
    return false;
}

/* Where the line that starts at `at` ends: its CR. The head is complete, so there is one. */
static const char *line_end(const char *at) {
    return strstr(at, "\r\n");
}

/* Copies the bytes from `at` up to `end`; false if they do not fit. */
static bool copy_text(const char *at, const char *end, char *buffer, size_t size) {
    size_t length = (size_t)(end - at);
    if (length >= size) {
        return false;
    }
    memcpy(buffer, at, length);
    buffer[length] = '\0';
    return true;
}

/* "HTTP/1.1 200 OK"; the reason may be empty, but not its space. */
static bool parse_status_line(struct http_message *message, const char *at, const char *end) {
    if (end - at < 13 || strncmp(at, "HTTP/1.", 7) != 0 || (at[7] != '0' && at[7] != '1') ||
        at[8] != ' ' || at[12] != ' ') {
        return fail(message, "the status line is malformed");
    }
    for (int i = 9; i < 12; i++) {
        if (at[i] < '0' || at[i] > '9') {
            return fail(message, "the status is no number");
        }
        message->status = message->status * 10 + (at[i] - '0');
    }
    if (message->status < 100) {
        return fail(message, "the status is below 100");
    }
    return copy_text(at + 13, end, message->reason, sizeof message->reason) ||
           fail(message, "the reason is too long");
}

/* "GET /list HTTP/1.1" */
static bool parse_request_line(struct http_message *message, const char *at, const char *end) {
    const char *space = memchr(at, ' ', (size_t)(end - at));
    const char *target = space == NULL ? end : space + 1;
    const char *second = memchr(target, ' ', (size_t)(end - target));
    if (second == NULL || space == at || *target != '/' || end - second != 9 ||
        strncmp(second, " HTTP/1.1", 9) != 0) {
        return fail(message, "the request line is malformed");
    }
    return (copy_text(at, space, message->method, sizeof message->method) &&
            copy_text(target, second, message->target, sizeof message->target)) ||
           fail(message, "the request line is too long");
}

static bool has_control(const char *at, const char *end) {
    for (; at < end; at++) {
        if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7F) {
            return true;
        }
    }
    return false;
}

/* "Name: value". No folded lines, no space before the colon, no control characters. */
static bool check_header(struct http_message *message, const char *at, const char *end) {
    static const char more[] = "!#$%&'*+-.^_`|~";
    const char *colon = memchr(at, ':', (size_t)(end - at));
    if (colon == NULL || colon == at) {
        return fail(message, "a header has no name");
    }
    for (const char *c = at; c < colon; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        bool digit = *c >= '0' && *c <= '9';
        if (!letter && !digit && strchr(more, *c) == NULL) {
            return fail(message, "a header name has a character that is not allowed");
        }
    }
    return !has_control(colon, end) || fail(message, "a header has a control character");
}

/* The value behind a header's colon, without the white space around it. */
static void trim(const char **at, const char **end) {
    while (*at < *end && (**at == ' ' || **at == '\t')) {
        *at += 1;
    }
    while (*at < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t')) {
        *end -= 1;
    }
}

/* Goes to the next header; its name ends before the colon. False at the empty line. */
static bool next_header(const char **line, const char **colon, const char **end) {
    *line = *end + 2;
    *end = line_end(*line);
    *colon = *line == *end ? *line : memchr(*line, ':', (size_t)(*end - *line));
    return *line != *end;
}

static bool named(const char *line, const char *colon, const char *name) {
    return (size_t)(colon - line) == strlen(name) && strncasecmp(line, name, strlen(name)) == 0;
}

bool http_header(const struct http_message *message, const char *name, char *buffer, size_t size) {
    const char *line = message->data, *colon, *end = line_end(line);
    while (next_header(&line, &colon, &end)) {
        if (named(line, colon, name)) {
            const char *from = colon + 1, *to = end;
            trim(&from, &to);
            return copy_text(from, to, buffer, size);
        }
    }
    return false;
}

static bool parse_length(struct http_message *message, const char *at, const char *end) {
    trim(&at, &end);
    if (at == end) {
        return fail(message, "Content-Length is empty");
    }
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') {
            return fail(message, "Content-Length is no number");
        }
        message->body_length = message->body_length * 10 + (size_t)(*at - '0');
        if (message->body_length > LONGEST_BODY) {
            return fail(message, "the body is too long");
        }
    }
    return true;
}

/* The head is complete; each of its lines ends in CRLF, the last one is empty. */
static bool parse_head(struct http_message *message) {
    const char *line = message->data, *colon, *end = line_end(line);
    bool has_length = false;
    if (has_control(line, end) || memchr(line, '\0', message->head) != NULL) {
        return fail(message, "the head has a control character");
    }
    if (!(message->role == HTTP_RESPONSE ? parse_status_line(message, line, end)
                                         : parse_request_line(message, line, end))) {
        return false;
    }
    for (line = end + 2; line != message->data + message->head - 2; line = end + 2) {
        end = line_end(line);
        if (!check_header(message, line, end)) {
            return false;
        }
    }
    end = line_end(message->data);
    while (next_header(&line, &colon, &end)) {
        if (named(line, colon, "Transfer-Encoding")) {
            return fail(message, "Transfer-Encoding is not supported");
        }
        if (named(line, colon, "Content-Length")) {
            if (has_length) {
                return fail(message, "Content-Length stands there twice");
            }
            has_length = true;
            if (!parse_length(message, colon + 1, end)) {
                return false;
            }
        }
    }
    return has_length || message->role == HTTP_REQUEST ||
           fail(message, "Content-Length is missing");
}

/* Room for the bytes and a NUL behind them, which lets the functions above search the text. */
static bool append(struct http_message *message, const char *bytes, size_t count) {
    if (count > LONGEST_HEAD + LONGEST_BODY - message->length) {
        return fail(message, "the message is too long");
    }
    size_t needed = message->length + count + 1;
    if (needed > message->capacity) {
        size_t capacity = needed < 1024 ? 1024 : needed * 2;
        char *data = realloc(message->data, capacity);
        if (data == NULL) {
            return fail(message, "out of memory");
        }
        message->data = data;
        message->capacity = capacity;
    }
    memcpy(message->data + message->length, bytes, count);
    message->length += count;
    message->data[message->length] = '\0';
    return true;
}

/* Where the empty line ends, looking no further back than new bytes can matter; 0 if not there. */
static size_t find_head(const struct http_message *message, size_t known) {
    size_t from = known < 3 ? 0 : known - 3;
    for (size_t i = from; i + 4 <= message->length; i++) {
        if (memcmp(message->data + i, "\r\n\r\n", 4) == 0) {
            return i + 4;
        }
    }
    return 0;
}

enum http_progress http_feed(struct http_message *message, const char *bytes, size_t count) {
    size_t known = message->length;
    if (message->problem != NULL || !append(message, bytes, count)) {
        return HTTP_INVALID;
    }
    if (message->head == 0) {
        message->head = find_head(message, known);
        if ((message->head == 0 ? message->length : message->head) > LONGEST_HEAD) {
            fail(message, "the head is too long");
            return HTTP_INVALID;
        }
        if (message->head == 0) {
            return HTTP_PARTIAL;
        }
        if (!parse_head(message)) {
            return HTTP_INVALID;
        }
    }
    size_t whole = message->head + message->body_length;
    if (message->length > whole) {
        fail(message, "there are bytes behind the body");
        return HTTP_INVALID;
    }
    return message->length == whole ? HTTP_COMPLETE : HTTP_PARTIAL;
}

char *http_format(const char *first_line, const char *headers, const char *body, size_t *length) {
    static const char form[] = "%s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                               "Connection: close\r\n%s\r\n%s";
    int count = snprintf(NULL, 0, form, first_line, strlen(body), headers, body);
    char *text = count < 0 ? NULL : malloc((size_t)count + 1);
    if (text != NULL) {
        snprintf(text, (size_t)count + 1, form, first_line, strlen(body), headers, body);
        *length = (size_t)count;
    }
    return text;
}
