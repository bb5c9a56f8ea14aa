/* json_scan.c: steps over the parts of a JSON text, and refuses what the grammar does not allow. */
#include "json_scan.h"

#include <string.h>

/* Deeper nesting is refused, so that the recursion below has a bound. */
#define DEEPEST 32

void json_scan_space(struct json_cursor *c) {
    while (c->at < c->end &&
           (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')) {
        c->at++;
    }
}

bool json_scan_byte(struct json_cursor *c, char byte) {
    if (c->at == c->end || *c->at != byte) {
        return false;
    }
    c->at++;
    return true;
}

static bool scan_word(struct json_cursor *c, const char *word) {
    for (; *word != '\0'; word++) {
        if (!json_scan_byte(c, *word)) {
            return false;
        }
    }
    return true;
}

static int hex_digit(char byte) {
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    if (byte >= 'a' && byte <= 'f') {
        return byte - 'a' + 10;
    }
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* The four digits of an escape; -1 if they are not there. */
static long read_unit(struct json_cursor *c) {
    long unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = c->at < c->end ? hex_digit(*c->at) : -1;
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
        c->at++;
    }
    return unit;
}

long json_scan_escape(struct json_cursor *c) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (c->at == c->end) {
        return -1;
    }
    char name = *c->at;
    if (name == 'u') {
        c->at++;
        long high = read_unit(c);
        if (high < 0xD800 || high > 0xDFFF) {
            return high;
        }
        long low = high < 0xDC00 && scan_word(c, "\\u") ? read_unit(c) : -1;
        return low >= 0xDC00 && low <= 0xDFFF ? 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
                                              : -1;
    }
    const char *found = name == '\0' ? NULL : strchr(names, name);
    if (found == NULL) {
        return -1;
    }
    c->at++;
    return bytes[found - names];
}

/* The length of the UTF-8 sequence that starts here; 0 if it is not well formed. */
static size_t utf8_length(const struct json_cursor *c) {
    const unsigned char *byte = (const unsigned char *)c->at;
    size_t left = (size_t)(c->end - c->at);
    size_t length = 4;
    if (byte[0] < 0xF0) {
        length = byte[0] < 0x80 ? 1 : byte[0] < 0xC2 ? 0 : byte[0] < 0xE0 ? 2 : 3;
    }
    if (length == 0 || length > left || byte[0] > 0xF4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (byte[0] == 0xE0 && byte[1] < 0xA0) || (byte[0] == 0xF0 && byte[1] < 0x90);
    bool beyond = (byte[0] == 0xED && byte[1] > 0x9F) || (byte[0] == 0xF4 && byte[1] > 0x8F);
    return overlong || beyond ? 0 : length;
}

bool json_scan_string(struct json_cursor *c) {
    if (!json_scan_byte(c, '"')) {
        return false;
    }
    while (c->at < c->end && *c->at != '"') {
        if (*c->at == '\\') {
            c->at++;
            if (json_scan_escape(c) < 0) {
                return false;
            }
        } else {
            size_t length = (unsigned char)*c->at < 0x20 ? 0 : utf8_length(c);
            if (length == 0) {
                return false;
            }
            c->at += length;
        }
    }
    return json_scan_byte(c, '"');
}

static bool scan_digits(struct json_cursor *c) {
    const char *start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        c->at++;
    }
    return c->at > start;
}

static bool scan_number(struct json_cursor *c) {
    json_scan_byte(c, '-');
    if (!json_scan_byte(c, '0') && !scan_digits(c)) {
        return false;
    }
    if (json_scan_byte(c, '.') && !scan_digits(c)) {
        return false;
    }
    if (json_scan_byte(c, 'e') || json_scan_byte(c, 'E')) {
        if (!json_scan_byte(c, '+')) {
            json_scan_byte(c, '-');
        }
        return scan_digits(c);
    }
    return true;
}

/* An array, or an object if `named`: its members are then names, colons and values. */
static bool scan_members(struct json_cursor *c, bool named, int depth) {
    char close = named ? '}' : ']';
    c->at++;
    json_scan_space(c);
    if (json_scan_byte(c, close)) {
        return true;
    }
    do {
        json_scan_space(c);
        if (named) {
            if (!json_scan_string(c)) {
                return false;
            }
            json_scan_space(c);
            if (!json_scan_byte(c, ':')) {
                return false;
            }
            json_scan_space(c);
        }
        if (!json_scan_value(c, depth)) {
            return false;
        }
        json_scan_space(c);
    } while (json_scan_byte(c, ','));
    return json_scan_byte(c, close);
}

bool json_scan_value(struct json_cursor *c, int depth) {
    if (c->at == c->end || depth == DEEPEST) {
        return false;
    }
    switch (*c->at) {
    case '{':
    case '[':
        return scan_members(c, *c->at == '{', depth + 1);
    case '"':
        return json_scan_string(c);
    case 't':
        return scan_word(c, "true");
    case 'f':
        return scan_word(c, "false");
    case 'n':
        return scan_word(c, "null");
    default:
        return scan_number(c);
    }
}
