/* What programs leave out because the library is known to do it wrongly. Each entry goes when its
 * fault is repaired; none is a rule of the header. */
#include "model.h"

/* Adopting a finally that waits for its handler's promise: the follower gets that promise's value.
 */
static bool finally_waits(int promise) {
    for (int i = promise; i >= 0 && m.promises[i].wait == WAITS_FOLLOWED;) {
        if (m.promises[i].outcome >= 0) {
            return true;
        }
        i = m.promises[i].upstream;
    }
    return false;
}

/* A ring closed by the handler of a promise that only its followers hold: the library may walk
 * round it for ever. (A destructor may give the last handle back, so then it counts as not held.)
 */
static bool closes_ring(int followed, int promise) {
    const model_promise *self = &m.promises[promise];
    bool held = self->holds > 0 && self->context < 0;
    return self->wait == WAITS_HANDLER && !held && followed != promise &&
           model_waits_for(followed, promise) == PATH_ADOPTS;
}

bool known_fault(int value, int promise) {
    const model_value *self = &m.values[value];
    if (self->kind != VOW_PROMISE) {
        return false;
    }
    int followed = (int)self->number;
    return finally_waits(followed) || (promise >= 0 && closes_ring(followed, promise));
}

/* An inline link that stands behind other inline ones of its promise: a wait for it, inside a
 * handler, is refused although the waiting thread could run them all. */
bool known_refusal(void) {
    return true;
}
