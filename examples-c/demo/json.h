/* json.h: a strict reader of JSON texts (RFC 8259) that copies and allocates nothing. */
#ifndef DEMO_JSON_H
#define DEMO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One JSON value: the bytes from `at` up to `end`, in a text that json_check has accepted. It lives
 * as long as that text. */
struct json {
    const char *at, *end;
};

/* Whether the whole text is one JSON value with nothing but white space around it. If so, *out is
 * that value; else *problem is the offset of the first byte that is wrong. */
bool json_check(const char *text, size_t length, struct json *out, size_t *problem);

/* The member of an object; false if this is no object or has no such member. */
bool json_member(struct json object, const char *name, struct json *out);

/* The number of items of an array, 0 for other values. */
size_t json_count(struct json array);

/* The item at `index`; false if this is no array or ends before. */
bool json_item(struct json array, size_t index, struct json *out);

/* The text of a string, with its escapes resolved and a NUL at the end; false if this is no string,
 * does not fit into size bytes or contains a NUL itself. */
bool json_string(struct json string, char *buffer, size_t size);

/* A whole number; false if this is no number, has a fraction or an exponent, or does not fit. */
bool json_integer(struct json number, int64_t *out);

#endif
