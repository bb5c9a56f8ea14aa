/* The program's bytes, its stack of callbacks, and how a difference is reported. */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

world w;

uint8_t next_byte(void) {
    if (w.left == 0) {
        return 0;
    }
    w.left--;
    return *w.data++;
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
    fprintf(stderr, "%*s%s", w.depth * 2, "", prefix);
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

void push_frame(frame kind, int executor) {
    w.depth++;
    w.frames[w.depth] = kind;
    w.frame_executors[w.depth] = executor;
    w.carried[w.depth] = w.carried[w.depth - 1];
    w.carried_is_set[w.depth] = false;
}

void pop_frame(void) {
    w.depth--;
}

frame top_frame(void) {
    return w.frames[w.depth];
}
