/* The few texts that programs use; the model knows them by number. */
#ifndef VOW_FUZZ_TEXTS_H
#define VOW_FUZZ_TEXTS_H

#include <stddef.h>

enum { TEXTS = 4, MESSAGES = 3 };

static const struct {
    const char *bytes;
    size_t length;
} texts[TEXTS] = {
    {"", 0}, {"a", 1}, {"b\0c", 3}, {"a somewhat longer text, for more than one line", 46}};

static const char *const domains[] = {"fuzz", "other", "vow"};
static const char *const messages[MESSAGES] = {"", "message", "another one"};

#endif
