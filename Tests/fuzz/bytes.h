/* The program's bytes, and how a difference is shown. */
#ifndef VOW_FUZZ_BYTES_H
#define VOW_FUZZ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct bytes {
    const uint8_t *data;
    size_t left;
    int indent; /* of the trace */
} program;

/* The next byte of the program; zeroes when it has ended. */
uint8_t next_byte(void);
unsigned next_below(unsigned bound);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail(__VA_ARGS__);                                                                     \
        }                                                                                          \
    } while (0)

#endif
