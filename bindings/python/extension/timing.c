/* A time-out that waits for the clean-up: when the time is up, what took too long is cancelled, and
 * the outcome comes when it has ended. None of this is Python's, but for telling of an error that
 * comes too late. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* Both links of a time-out share it. */
struct ending {
    pthread_mutex_t mutex;
    int users;
    bool has_ended;
    bool is_late;           /* the time was up before */
    vow_resolver *resolver; /* of who waits for the end then */
};

/* Says once that what was waited for has ended; whether the time was up before. */
static bool end(struct ending *ending) {
    pthread_mutex_lock(&ending->mutex);
    ending->has_ended = true;
    bool is_late = ending->is_late;
    vow_resolver *resolver = ending->resolver;
    ending->resolver = NULL;
    pthread_mutex_unlock(&ending->mutex);
    if (resolver != NULL) {
        vow.resolve(resolver, vow_none());
        vow.resolver_release(resolver);
    }
    return is_late;
}

static void drop(void *context) {
    struct ending *ending = context;
    pthread_mutex_lock(&ending->mutex);
    bool is_last = --ending->users == 0;
    pthread_mutex_unlock(&ending->mutex);
    if (is_last) {
        pthread_mutex_destroy(&ending->mutex);
        free(ending);
    }
}

/* Also where the link never ran: then nobody shall wait for it. */
static void end_and_drop(void *context) {
    end(context);
    drop(context);
}

static bool is_cancellation(vow_value value) {
    return vow.error_code(value) == VOW_ECANCELLED && strcmp(vow.error_domain(value), "vow") == 0;
}

static vow_value when_ended(vow_value value, void *context) {
    if (end(context) && value.kind == VOW_ERROR && !is_cancellation(value))
        handlers_tell(value);
    return vow_none();
}

/* Shielded: who cancels the whole waits as well. */
static vow_value until_ended(vow_value value, void *context) {
    struct ending *ending = context;
    vow_promise *promise = NULL;
    pthread_mutex_lock(&ending->mutex);
    if (!ending->has_ended) {
        ending->is_late = true;
        promise = vow.promise_create(&ending->resolver);
    }
    pthread_mutex_unlock(&ending->mutex);
    return promise == NULL ? vow_none() : vow.from_promise(vow.shield(promise));
}

static vow_promise *chain(vow_promise *promise, vow_handler handler, struct ending *ending,
                          void (*destroy)(void *)) {
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = handler,
                             .on_rejected = handler,
                             .context = ending,
                             .destroy = destroy,
                             .executor = vow.executor_inline(),
                             .flags = VOW_FINALLY};
    return vow.then_with(promise, &reaction);
}

/* timed(promise, ns, prompt): a promise of the same outcome, or of VOW_ETIMEDOUT. */
PyObject *timed(PyObject *module, PyObject *arguments) {
    promise_object *promise;
    long long ns;
    int is_prompt;
    if (!PyArg_ParseTuple(arguments, "O!Lp", promise_type, &promise, &ns, &is_prompt) ||
        enter_asyncio() < 0)
        return NULL;
    struct ending *ending = is_prompt ? NULL : calloc(1, sizeof *ending);
    if (ending == NULL && !is_prompt)
        return PyErr_NoMemory();
    vow_promise *handle = promise_hold_for_good(promise);
    if (handle == NULL) {
        free(ending);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    if (is_prompt)
        handle = vow.timeout(handle, ns);
    else {
        pthread_mutex_init(&ending->mutex, NULL);
        ending->users = 2;
        handle = vow.timeout(chain(handle, when_ended, ending, end_and_drop), ns);
        handle = chain(handle, until_ended, ending, drop);
    }
    Py_END_ALLOW_THREADS;
    PyObject *result = promise_new(handle);
    if (result != NULL && !is_prompt)
        ((promise_object *)result)->at_end = CANCEL;
    return gate_result(result);
}
