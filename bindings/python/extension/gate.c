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

static atomic_bool closed;
static atomic_long inside;
static _Thread_local long depth; /* how often this thread is inside */

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

/* On the main thread. The first one stays. */
void gate_leave_with(PyObject *error) {
    if (exit_error == NULL) {
        Py_INCREF(error);
        exit_error = error;
    }
    ask_for_exit();
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
    for (;;)
        pause();
}

vow_value gate_refusal(void) {
    return vow.error("vow", VOW_ESHUTDOWN, "the Python interpreter has ended");
}

/* close(): from now on nobody enters. */
PyObject *gate_close(PyObject *module, PyObject *nothing) {
    atomic_store(&closed, true);
    return new_none();
}

#define SLICE_MS 20 /* between looks for signals */

/* wait(): waits a little until nobody is inside but the calling thread: how many are. */
PyObject *gate_wait(PyObject *module, PyObject *nothing) {
    const struct timespec step = {0, 200 * 1000};
    long others = 0;
    Py_BEGIN_ALLOW_THREADS;
    for (int steps = 5 * SLICE_MS; steps >= 0; steps--) {
        others = atomic_load(&inside) - depth;
        if (others == 0)
            break;
        nanosleep(&step, NULL);
    }
    Py_END_ALLOW_THREADS;
    return PyErr_CheckSignals() < 0 ? NULL : PyLong_FromLong(others);
}

/* In a forked child: who else was inside is no more. */
void gate_forked(void) {
    atomic_store(&inside, depth);
}

/* The library's end on a thread of its own, so that the one which waits for it can be interrupted.
 */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool is_done;
    int64_t timeout_ns;
} ending = {.mutex = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void *end_of_library(void *nothing) {
    vow.shutdown(ending.timeout_ns);
    pthread_mutex_lock(&ending.mutex);
    ending.is_done = true;
    pthread_cond_broadcast(&ending.done);
    pthread_mutex_unlock(&ending.mutex);
    return nothing;
}

/* Waits for a slice of time: whether the library has ended. */
static bool has_ended(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += SLICE_MS * 1000 * 1000;
    end.tv_sec += end.tv_nsec / (1000 * 1000 * 1000);
    end.tv_nsec %= 1000 * 1000 * 1000;
    pthread_mutex_lock(&ending.mutex);
    while (!ending.is_done &&
           pthread_cond_timedwait(&ending.done, &ending.mutex, &end) != ETIMEDOUT) {
    }
    bool is_done = ending.is_done;
    pthread_mutex_unlock(&ending.mutex);
    return is_done;
}

/* shut_down(timeout_ns): ends the library's work; Ctrl-C ends the waiting. Called once. */
PyObject *gate_shut_down(PyObject *module, PyObject *number) {
    pthread_t thread;
    ending.timeout_ns = PyLong_AsLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    bool is_done;
    if (pthread_create(&thread, NULL, end_of_library, NULL) == 0)
        pthread_detach(thread);
    else
        end_of_library(NULL);
    do {
        UNLOCKED(is_done = has_ended());
        if (PyErr_CheckSignals() < 0)
            return NULL;
    } while (!is_done);
    return new_none();
}
