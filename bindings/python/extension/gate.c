/* The gate between the library and the interpreter: every call of the library into Python goes
 * through it.
 *
 * A thread that calls into an interpreter which is being taken down is ended by it, or reads what
 * is freed. So the end of the interpreter closes the gate first, and waits for those who are
 * inside. Who comes later is answered here: handlers with a rejection, so that the promise settles
 * and lets go of what it has.
 *
 * An entering thread counts itself in and then looks whether the gate is closed; the closing one
 * closes it and then looks at the count. Both in one order for all threads (seq_cst): one of them
 * sees the other. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core.h"

#define SHOWN __attribute__((visibility("default")))
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef vow_value (*make_error)(const char *domain, int64_t code, const char *message);
typedef bool (*condition)(vow_value state, void *context);
typedef void (*notice)(void *context);
typedef void (*unhandled)(vow_value error, void *context);
typedef void (*progress)(double fraction, const char *note, void *context);
typedef void (*submit)(void *context, void (*run)(void *work), void *work);

static atomic_bool closed;
static atomic_long inside;
static _Thread_local long depth; /* how often this thread is inside */
static make_error error_of_library;

/* The exception of a handler that is meant for the program; the main thread alone has one. It is
 * raised there when the last call of the library into Python has returned: never inside of one,
 * which would be cut off. */
static _Thread_local PyObject *exit_error;
static _Thread_local bool is_asked;

static void ask_for_exit(void);

/* The end of a function that has called the library: its result, or NULL with the exception. */
PyObject *gate_result(PyObject *result) {
    PyObject *error = exit_error;
    if (depth > 0 || error == NULL)
        return result;
    exit_error = NULL;
    Py_XDECREF(result);
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return NULL;
}

/* Not in the package's own code, which may have a reference in its hands. */
static int raise_exit(void *nothing) {
    PyObject *globals = PyEval_GetGlobals(), *prefix = NULL;
    PyObject *name = globals == NULL ? NULL : PyDict_GetItemString(globals, "__name__");
    (void)nothing;
    is_asked = false;
    if (name != NULL && PyUnicode_Check(name) && (prefix = PyUnicode_FromString("vow.")) == NULL)
        PyErr_Clear();
    bool is_ours = prefix != NULL && PyUnicode_Tailmatch(name, prefix, 0, 4, -1) == 1;
    Py_XDECREF(prefix);
    if (is_ours)
        ask_for_exit();
    if (is_ours || exit_error == NULL || depth > 0)
        return 0;
    gate_result(NULL);
    return -1;
}

static void ask_for_exit(void) {
    if (exit_error != NULL && depth == 0 && !is_asked)
        is_asked = Py_AddPendingCall(raise_exit, NULL) == 0;
}

/* leave_now(): for functions that have called the library by cffi. */
PyObject *gate_leave_now(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return gate_result(new_none());
}

/* leave_with(error): on the main thread. The first one stays. */
PyObject *gate_leave_with(PyObject *module, PyObject *error) {
    (void)module;
    if (exit_error == NULL) {
        Py_INCREF(error);
        exit_error = error;
    }
    ask_for_exit();
    return new_none();
}

void gate_leave(void) {
    depth--;
    atomic_fetch_sub(&inside, 1);
    ask_for_exit();
}

bool gate_enter(void) {
    depth++;
    atomic_fetch_add(&inside, 1);
    if (!atomic_load(&closed))
        return true;
    gate_leave();
    return false;
}

void gate_stay(void *nothing) {
    (void)nothing;
    for (;;)
        pause();
}

vow_value gate_refusal(void) {
    return error_of_library("vow", VOW_ESHUTDOWN, "the Python interpreter has ended");
}

/* One entrance for each function of Python: what the library calls has a context, but no name. */
/* clang-format off */
#define ENTRANCES(ENTRANCE)                                                                        \
    ENTRANCE(0) ENTRANCE(1) ENTRANCE(2) ENTRANCE(3) ENTRANCE(4) ENTRANCE(5)                        \
    ENTRANCE(6) ENTRANCE(7) ENTRANCE(8) ENTRANCE(9) ENTRANCE(10) ENTRANCE(11)
/* clang-format on */

static vow_handler handlers[12];
static vow_reducer reducers[12];
static condition conditions[12];
static notice notices[12];

#define HANDLER(number)                                                                            \
    static vow_value handler_##number(vow_value input, void *context) {                            \
        vow_value result;                                                                          \
        if (!gate_enter())                                                                         \
            return gate_refusal();                                                                 \
        GATE_THROUGH(result = handlers[number](input, context));                                   \
        return result;                                                                             \
    }
#define REDUCER(number)                                                                            \
    static vow_value reducer_##number(vow_value before, vow_value item, void *context) {           \
        vow_value result;                                                                          \
        if (!gate_enter())                                                                         \
            return gate_refusal();                                                                 \
        GATE_THROUGH(result = reducers[number](before, item, context));                            \
        return result;                                                                             \
    }
#define CONDITION(number)                                                                          \
    static bool condition_##number(vow_value state, void *context) {                               \
        bool result;                                                                               \
        if (!gate_enter())                                                                         \
            return false;                                                                          \
        GATE_THROUGH(result = conditions[number](state, context));                                 \
        return result;                                                                             \
    }
#define NOTICE(number)                                                                             \
    static void notice_##number(void *context) {                                                   \
        if (!gate_enter())                                                                         \
            return;                                                                                \
        GATE_THROUGH(notices[number](context));                                                    \
    }

ENTRANCES(HANDLER)
ENTRANCES(REDUCER)
ENTRANCES(CONDITION)
ENTRANCES(NOTICE)

#define HANDLER_NAME(number) handler_##number,
#define REDUCER_NAME(number) reducer_##number,
#define CONDITION_NAME(number) condition_##number,
#define NOTICE_NAME(number) notice_##number,

static const vow_handler handler_entrances[] = {ENTRANCES(HANDLER_NAME)};
static const vow_reducer reducer_entrances[] = {ENTRANCES(REDUCER_NAME)};
static const condition condition_entrances[] = {ENTRANCES(CONDITION_NAME)};
static const notice notice_entrances[] = {ENTRANCES(NOTICE_NAME)};

static unhandled on_unhandled;
static progress on_progress;
static submit on_submit;

static void enter_unhandled(vow_value error, void *context) {
    if (gate_enter())
        GATE_THROUGH(on_unhandled(error, context));
}

static void enter_progress(double fraction, const char *note, void *context) {
    if (gate_enter())
        GATE_THROUGH(on_progress(fraction, note, context));
}

/* An executor has to run what it is given; the Python handlers in there are refused in their turn.
 */
static void enter_submit(void *context, void (*run)(void *work), void *work) {
    if (!gate_enter()) {
        run(work);
        return;
    }
    GATE_THROUGH(on_submit(context, run, work));
}

/* Each takes a function of Python in, and gives what the library is to call. NULL: no entrance is
 * left. */

SHOWN vow_handler gate_handler(unsigned number, vow_handler function) {
    if (number >= COUNT(handlers))
        return NULL;
    handlers[number] = function;
    return handler_entrances[number];
}

SHOWN vow_reducer gate_reducer(unsigned number, vow_reducer function) {
    if (number >= COUNT(reducers))
        return NULL;
    reducers[number] = function;
    return reducer_entrances[number];
}

SHOWN condition gate_condition(unsigned number, condition function) {
    if (number >= COUNT(conditions))
        return NULL;
    conditions[number] = function;
    return condition_entrances[number];
}

SHOWN notice gate_notice(unsigned number, notice function) {
    if (number >= COUNT(notices))
        return NULL;
    notices[number] = function;
    return notice_entrances[number];
}

SHOWN unhandled gate_unhandled(unsigned number, unhandled function) {
    if (number > 0)
        return NULL;
    on_unhandled = function;
    return enter_unhandled;
}

SHOWN progress gate_progress(unsigned number, progress function) {
    if (number > 0)
        return NULL;
    on_progress = function;
    return enter_progress;
}

SHOWN submit gate_submit(unsigned number, submit function) {
    if (number > 0)
        return NULL;
    on_submit = function;
    return enter_submit;
}

SHOWN void gate_open(make_error error) {
    error_of_library = error;
    atomic_store(&closed, false);
}

/* From now on nobody enters. */
SHOWN void gate_close(void) {
    atomic_store(&closed, true);
}

/* Waits for at most so many milliseconds until nobody is inside but the calling thread: how many
 * are. */
SHOWN long gate_wait(long milliseconds) {
    const struct timespec step = {0, 200 * 1000};
    for (long steps = 5 * milliseconds;; steps--) {
        long others = atomic_load(&inside) - depth;
        if (others == 0 || steps <= 0)
            return others;
        nanosleep(&step, NULL);
    }
}

/* In a forked child: who else was inside is no more. */
SHOWN void gate_forked(void) {
    atomic_store(&inside, depth);
}

/* The library's end on a thread of its own, so that the one which waits for it can be interrupted.
 */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool is_done;
    int64_t result;
    int64_t (*function)(int64_t timeout_ns);
    int64_t timeout_ns;
} ending = {.mutex = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void *end_of_library(void *nothing) {
    int64_t result = ending.function(ending.timeout_ns);
    pthread_mutex_lock(&ending.mutex);
    ending.result = result;
    ending.is_done = true;
    pthread_cond_broadcast(&ending.done);
    pthread_mutex_unlock(&ending.mutex);
    return nothing;
}

/* One at a time. Without a thread it is done when this returns. */
SHOWN void gate_shutdown_begin(int64_t (*function)(int64_t timeout_ns), int64_t timeout_ns) {
    pthread_t thread;
    ending.function = function;
    ending.timeout_ns = timeout_ns;
    ending.is_done = false;
    if (pthread_create(&thread, NULL, end_of_library, NULL) == 0)
        pthread_detach(thread);
    else
        end_of_library(NULL);
}

/* Waits for at most so many milliseconds. Whether it is done; then *result is its answer. */
SHOWN bool gate_shutdown_wait(long milliseconds, int64_t *result) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += milliseconds * 1000 * 1000;
    end.tv_sec += end.tv_nsec / (1000 * 1000 * 1000);
    end.tv_nsec %= 1000 * 1000 * 1000;
    pthread_mutex_lock(&ending.mutex);
    while (!ending.is_done &&
           pthread_cond_timedwait(&ending.done, &ending.mutex, &end) != ETIMEDOUT) {
    }
    bool is_done = ending.is_done;
    if (is_done)
        *result = ending.result;
    pthread_mutex_unlock(&ending.mutex);
    return is_done;
}
