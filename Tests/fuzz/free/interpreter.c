/* One step of the program after the other, in any order and at any depth. */
#include "../table.h"
#include "free.h"

state f;

void enter(frame kind, int executor) {
    f.depth++;
    program.indent = f.depth;
    f.frames[f.depth] = kind;
    f.frame_executors[f.depth] = executor;
    f.carried[f.depth] = -1;
}

void leave(void) {
    f.depth--;
    program.indent = f.depth;
}

bool is_full(void) {
    return f.record_count > RECORDS - 64 || f.link_count > LINKS - 64 || f.edge_count > EDGES - 256;
}

void one_step(void) {
    step next = step_of(next_byte());
    f.begun = f.begun || next.chapter != STEP_THREADS;
    switch (next.chapter) {
    case STEP_PROMISE:
        promise_step(next.which);
        break;
    case STEP_RESOLVER:
        resolver_step(next.which);
        break;
    case STEP_CHAIN:
        chain_step(next.which);
        break;
    case STEP_EXECUTOR:
        executor_step(next.which);
        break;
    case STEP_CANCEL:
        cancel_step(next.which);
        break;
    case STEP_COMBINE:
        combine_step(next.which);
        break;
    case STEP_CONTEXT:
        context_step(next.which);
        break;
    case STEP_LOOP:
        loop_step(next.which);
        break;
    case STEP_TIME:
        time_step(next.which);
        break;
    case STEP_MACHINE:
        machine_step(next.which);
        break;
    case STEP_SCOPE:
        scope_step(next.which);
        break;
    case STEP_PROGRESS:
        progress_step(next.which);
        break;
    case STEP_THREADS:
        thread_step();
        break;
    case STEP_LOOK:
        look_step(next.which);
        break;
    default:
        break; /* the model's alone: values in places, and wrong arguments */
    }
}

void steps(unsigned count) {
    for (unsigned i = 0; i < count && program.left > 0 && f.depth < DEPTH && !is_full(); i++) {
        one_step();
    }
}
