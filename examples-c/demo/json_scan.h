/* json_scan.h: stepping over the parts of a JSON text; only json.c needs it. */
#ifndef DEMO_JSON_SCAN_H
#define DEMO_JSON_SCAN_H

#include <stdbool.h>

/* A place in a text. */
struct json_cursor {
    const char *at, *end;
};

/* Each steps over what its name says. False: it is not there, and the cursor stands where that
 * showed. */
void json_scan_space(struct json_cursor *c);
bool json_scan_byte(struct json_cursor *c, char byte);
bool json_scan_string(struct json_cursor *c);
bool json_scan_value(struct json_cursor *c, int depth);

/* Steps over what stands behind a backslash, and returns the code point that it means; two escapes
 * make one where the point needs them. -1 if it is not well formed. */
long json_scan_escape(struct json_cursor *c);

#endif
