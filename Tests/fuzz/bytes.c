/* Reads the program's bytes, and reports differences. */
#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct bytes program;

uint8_t next_byte(void) {
    if (program.left == 0) {
        return 0;
    }
    program.left--;
    return *program.data++;
}

unsigned next_below(unsigned bound) {
    return next_byte() % bound;
}

static bool traced(void) {
    static int answer = -1;
    if (answer < 0) {
        answer = getenv("FUZZ_TRACE") != NULL;
    }
    return answer;
}

static void print(const char *prefix, const char *format, va_list arguments) {
    fprintf(stderr, "%*s%s", program.indent * 2, "", prefix);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void trace(const char *format, ...) {
    if (traced()) {
        va_list arguments;
        va_start(arguments, format);
        print("", format, arguments);
        va_end(arguments);
    }
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print("DIFFERENCE: ", format, arguments);
    va_end(arguments);
    abort();
}
