/* What the running program has, and its stack of callbacks. */
#include "world.h"

world w;

void push_frame(frame kind, int executor) {
    w.depth++;
    w.events++;
    program.indent = w.depth;
    w.frames[w.depth] = kind;
    w.frame_executors[w.depth] = executor;
    w.carried[w.depth] = w.carried[w.depth - 1];
    w.carried_is_set[w.depth] = false;
}

void pop_frame(void) {
    w.depth--;
    w.events++;
    program.indent = w.depth;
}

frame top_frame(void) {
    return w.frames[w.depth];
}
