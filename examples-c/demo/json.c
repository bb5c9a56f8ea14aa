/* json.c: finds values in a checked JSON text, by stepping over the others. */
#include "json.h"

#include <string.h>

#include "json_scan.h"

bool json_check(const char *text, size_t length, struct json *out, size_t *problem) {
    struct json_cursor c = {text, text + length};
    json_scan_space(&c);
    out->at = c.at;
    bool whole = json_scan_value(&c, 0);
    out->end = c.at;
    if (whole) {
        json_scan_space(&c);
    }
    *problem = (size_t)(c.at - text);
    return whole && c.at == c.end;
}

/* Goes to the next value of an array or object; *name is the member's name in an object. The text
 * was checked, so nothing can be missing. False at the end. */
static bool next_value(struct json_cursor *c, struct json *name, struct json *value) {
    c->at++; /* the bracket that opens, or the comma */
    json_scan_space(c);
    if (*c->at == ']' || *c->at == '}') {
        return false;
    }
    if (name != NULL) {
        name->at = c->at;
        json_scan_string(c);
        name->end = c->at;
        json_scan_space(c);
        c->at++; /* the colon */
        json_scan_space(c);
    }
    value->at = c->at;
    json_scan_value(c, 0);
    value->end = c->at;
    json_scan_space(c);
    return true;
}

bool json_member(struct json object, const char *name, struct json *out) {
    struct json_cursor c = {object.at, object.end};
    struct json found;
    char text[64];
    if (c.at == c.end || *c.at != '{') {
        return false;
    }
    do {
        if (!next_value(&c, &found, out)) {
            return false;
        }
        if (json_string(found, text, sizeof text) && strcmp(text, name) == 0) {
            return true;
        }
    } while (*c.at == ',');
    return false;
}

bool json_item(struct json array, size_t index, struct json *out) {
    struct json_cursor c = {array.at, array.end};
    if (c.at == c.end || *c.at != '[') {
        return false;
    }
    do {
        if (!next_value(&c, NULL, out)) {
            return false;
        }
        if (index == 0) {
            return true;
        }
        index--;
    } while (*c.at == ',');
    return false;
}

size_t json_count(struct json array) {
    struct json item;
    size_t count = 0;
    while (json_item(array, count, &item)) {
        count++;
    }
    return count;
}

/* Writes a code point as UTF-8; returns how many bytes. */
static size_t encode_utf8(long point, char out[4]) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const int first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (char)(first[length] | point);
    return length;
}

bool json_string(struct json string, char *buffer, size_t size) {
    struct json_cursor c = {string.at, string.end};
    size_t used = 0;
    if (!json_scan_byte(&c, '"')) {
        return false;
    }
    while (*c.at != '"') {
        char bytes[4];
        size_t length = 1;
        if (*c.at == '\\') {
            c.at++;
            length = encode_utf8(json_scan_escape(&c), bytes);
        } else {
            bytes[0] = *c.at++;
        }
        if (bytes[0] == '\0' || used + length >= size) {
            return false;
        }
        memcpy(buffer + used, bytes, length);
        used += length;
    }
    if (used >= size) {
        return false;
    }
    buffer[used] = '\0';
    return true;
}

bool json_integer(struct json number, int64_t *out) {
    const char *at = number.at;
    bool negative = at < number.end && *at == '-';
    int64_t sum = 0; /* kept negative: there is one more negative number than positive ones */
    at += negative;
    if (at == number.end) {
        return false;
    }
    for (; at < number.end; at++) {
        if (*at < '0' || *at > '9' || sum < (INT64_MIN + (*at - '0')) / 10) {
            return false;
        }
        sum = sum * 10 - (*at - '0');
    }
    if (!negative && sum == INT64_MIN) {
        return false;
    }
    *out = negative ? sum : -sum;
    return true;
}
