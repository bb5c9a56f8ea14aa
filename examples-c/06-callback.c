/* 06-callback.c: gives a callback API a promise, also when the callback never comes. */
#include <pthread.h>
#include <string.h>

#include "common.h"

/* ---------------------------------------------------------------- The API as it is
 *
 * Measures something and calls `done` from a thread of its own, once, with a number or with a
 * failure; or, if the instrument is unplugged, not at all. In any case it calls `dispose` last. */

struct measurement {
    const char *what;
    void (*done)(void *context, int failure, int64_t number);
    void (*dispose)(void *context);
    void *context;
    pthread_t thread;
};

static void *measure_thread(void *argument) {
    struct measurement *m = argument;
    if (strcmp(m->what, "width") == 0) {
        m->done(m->context, 0, 640);
    } else if (strcmp(m->what, "weight") == 0) {
        m->done(m->context, 3, 0);
    }
    m->dispose(m->context);
    return NULL;
}

static int measure(struct measurement *m) {
    return pthread_create(&m->thread, NULL, measure_thread, m);
}

/* ---------------------------------------------------------------- The same as a promise
 *
 * The context of the callback is the resolver. `done` settles; `dispose` gives the resolver back,
 * and if nobody has settled until then the promise is rejected with VOW_EBROKEN: whoever waits
 * hears of it. */

static void on_done(void *context, int failure, int64_t number) {
    vow_resolver *resolver = context;
    if (failure != 0) {
        vow_reject(resolver, vow_error("instrument", failure, "the scale is not level"));
    } else {
        vow_resolve(resolver, vow_int(number));
    }
}

static void on_dispose(void *context) {
    vow_resolver_release(context);
}

static vow_promise *measure_promise(struct measurement *m, const char *what) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    m->what = what;
    m->done = on_done;
    m->dispose = on_dispose;
    m->context = resolver;
    int failure = measure(m);
    if (failure != 0) {
        vow_reject(resolver, vow_error("errno", failure, "no thread for the measurement"));
        vow_resolver_release(resolver);
    }
    return promise;
}

int main(void) {
    const char *names[] = {"width", "weight", "height"};
    for (int i = 0; i < 3; i++) {
        struct measurement m;
        vow_promise *promise = measure_promise(&m, names[i]);
        vow_value outcome = wait_for(promise);
        pthread_join(m.thread, NULL);
        if (outcome.kind == VOW_ERROR && vow_error_code(outcome) == VOW_EBROKEN) {
            printf("%s: broken promise, the callback never came\n", names[i]);
        } else {
            show(names[i], outcome);
        }
        vow_value_release(outcome);
    }
    return 0;
}
