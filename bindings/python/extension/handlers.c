/* The handlers of links, as the library calls them: through the gate, under the interpreter's lock,
 * in the context variables of their registration. None raises: what Python raises becomes an error
 * value. */
#include <pthread.h>

#include "core.h"

enum how { FULFILLED, REJECTED, SETTLED, ITEM, RELEASE };

/* ------------------------------------------------------------ Who runs a handler */

/* Of each handler that runs, on the stack of its thread. Under the interpreter's lock. */
struct running {
    unsigned long thread;
    PyObject *function;
    struct running *next, **place;
};
static struct running *first_running;
static _Thread_local long handlers_here;

static void begin_running(struct running *running, PyObject *function) {
    running->thread = PyThread_get_thread_ident();
    running->function = function;
    running->next = first_running;
    running->place = &first_running;
    if (first_running != NULL)
        first_running->place = &running->next;
    first_running = running;
    handlers_here++;
}

static void end_running(struct running *running) {
    *running->place = running->next;
    if (running->next != NULL)
        running->next->place = running->place;
    handlers_here--;
}

/* Pairs of a thread and the function that it runs, the innermost first. Making an object may
 * collect garbage, which may let handlers end: so they are copied before the first one is made. */
PyObject *handlers_running(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    size_t count = 0, i = 0;
    for (struct running *one = first_running; one != NULL; one = one->next)
        count++;
    struct running *copies = PyMem_Malloc((count + 1) * sizeof *copies);
    if (copies == NULL)
        return PyErr_NoMemory();
    for (struct running *one = first_running; one != NULL; one = one->next) {
        copies[i] = *one;
        Py_INCREF(copies[i++].function);
    }
    PyObject *list = PyList_New(0);
    for (i = 0; i < count; i++) {
        PyObject *pair = list ? Py_BuildValue("kO", copies[i].thread, copies[i].function) : NULL;
        if (list != NULL && (pair == NULL || PyList_Append(list, pair) < 0))
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    for (i = 0; i < count; i++)
        Py_DECREF(copies[i].function);
    PyMem_Free(copies);
    return list;
}

/* In a forked child: who ran handlers on other threads is no more. */
PyObject *handlers_forked(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    unsigned long here = PyThread_get_thread_ident();
    for (struct running **place = &first_running; *place != NULL;) {
        struct running *one = *place;
        if (one->thread == here) {
            one->place = place;
            place = &one->next;
        } else
            *place = one->next;
    }
    return new_none();
}

/* interrupt(thread, class): raises an exception there, as soon as it runs Python code. */
PyObject *handlers_interrupt(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long thread;
    PyObject *cls;
    if (!PyArg_ParseTuple(arguments, "kO", &thread, &cls))
        return NULL;
    return PyLong_FromLong(PyThreadState_SetAsyncExc(thread, cls));
}

PyObject *handlers_inside(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return PyBool_FromLong(handlers_here > 0);
}

/* ------------------------------------------------------------ Calling */

static PyObject *copied(PyObject *context) {
    if (contexts.copy != NULL)
        return contexts.copy(context);
    return PyObject_CallMethod(context, "copy", NULL);
}

static PyObject *call_in(PyObject *context, PyObject *function, PyObject *argument) {
    if (contexts.enter == NULL)
        return PyObject_CallMethod(context, "run", argument ? "OO" : "O", function, argument);
    if (contexts.enter(context) < 0)
        return NULL;
    PyObject *result = PyObject_CallFunctionObjArgs(function, argument, NULL);
    if (contexts.exit(context) < 0)
        Py_CLEAR(result);
    return result;
}

/* As in an `except` block: what the function raises has this error for its context. */
static PyObject *call_handling(PyObject *error, PyObject *context, PyObject *function,
                               PyObject *argument) {
    PyObject *type, *value, *traceback;
    PyErr_GetExcInfo(&type, &value, &traceback);
    Py_INCREF(Py_TYPE(error));
    Py_INCREF(error);
    PyErr_SetExcInfo((PyObject *)Py_TYPE(error), error, PyException_GetTraceback(error));
    PyObject *result = call_in(context, function, argument);
    PyErr_SetExcInfo(type, value, traceback);
    if (result != NULL && (PyObject *)Py_TYPE(result) == hooks.Coroutine) {
        PyObject *followed =
            PyObject_CallFunctionObjArgs(hooks.follow_handling, result, context, error, NULL);
        Py_DECREF(result);
        result = followed;
    }
    return result;
}

static PyObject *error_of(vow_value value) {
    return PyObject_CallFunction(hooks.error_from_plain, "IL", (unsigned)value.kind,
                                 (long long)value.as.integer);
}

/* The error value of the exception that is set. */
static vow_value failure(void) {
    PyObject *type, *error, *traceback;
    vow_value value;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(error, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    int status = from_triple(PyObject_CallFunctionObjArgs(hooks.failed_plain, error, NULL), &value);
    Py_XDECREF(error);
    if (status < 0) {
        PyErr_WriteUnraisable(hooks.failed_plain);
        value = vow.error("python", 0, "an exception that could not be made an error");
    }
    return value;
}

static int result_of(call_object *call, PyObject *context, vow_value input, enum how how,
                     vow_value *value) {
    PyObject *function = how == REJECTED || how == RELEASE ? call->other : call->function;
    PyObject *argument = NULL, *result = NULL, *error = NULL;
    int status = -1;
    if (how == REJECTED) {
        argument = error_of(input);
        int is_meant = argument == NULL     ? -1
                       : call->only == NULL ? 1
                                            : PyObject_IsInstance(argument, call->only);
        if (is_meant == 0) {
            *value = vow.value_retain(input);
            status = 0;
        }
        if (is_meant <= 0)
            goto out;
    } else if (how == SETTLED && input.kind == VOW_ERROR) {
        error = error_of(input);
        if (error == NULL)
            goto out;
    } else if (how != SETTLED) {
        argument = from_value(input);
        if (argument == NULL)
            goto out;
    }
    result = how == REJECTED ? call_handling(argument, context, function, argument)
             : error != NULL ? call_handling(error, context, function, NULL)
                             : call_in(context, function, argument);
    if (result != NULL)
        status = to_value(result, context, value);
out:
    Py_XDECREF(argument);
    Py_XDECREF(error);
    Py_XDECREF(result);
    return status;
}

/* Whether an executor refuses the work of this handler: 1 with the error's value, 0, or -1. */
static int refused(vow_value *value) {
    if (PyDict_Size(hooks.refusing) == 0)
        return 0;
    PyObject *triple = PyObject_CallFunctionObjArgs(hooks.refused_plain, NULL);
    if (triple == Py_None) {
        Py_DECREF(triple);
        return 0;
    }
    return from_triple(triple, value) < 0 ? -1 : 1;
}

static vow_value run_locked(vow_value input, call_object *call, enum how how) {
    PyGILState_STATE state = lock_interpreter();
    vow_value value = vow_none();
    struct running running;
    Py_INCREF((PyObject *)call);
    begin_running(&running, how == REJECTED || how == RELEASE ? call->other : call->function);
    int status = how == RELEASE ? 0 : refused(&value);
    if (status == 0) {
        /* Those that may run several times at once have a copy each. */
        PyObject *context = call->context;
        if (how >= ITEM)
            context = copied(context);
        else
            Py_INCREF(context);
        status = context == NULL ? -1 : result_of(call, context, input, how, &value);
        Py_XDECREF(context);
    }
    if (status < 0)
        value = failure();
    end_running(&running);
    Py_DECREF((PyObject *)call);
    PyGILState_Release(state);
    return value;
}

static vow_value run(vow_value input, void *context, enum how how) {
    vow_value value;
    if (!gate_enter())
        return gate_refusal();
    GATE_THROUGH(value = run_locked(input, context, how));
    return value;
}

vow_value on_fulfilled(vow_value input, void *context) {
    return run(input, context, FULFILLED);
}

vow_value on_rejected(vow_value input, void *context) {
    return run(input, context, REJECTED);
}

/* For `finally_`, `run` and the like: a function without arguments. */
vow_value on_settled(vow_value input, void *context) {
    return run(input, context, SETTLED);
}

/* For functions that may run several times at once. */
vow_value on_item(vow_value input, void *context) {
    return run(input, context, ITEM);
}

/* For what is to be given back: the other function of the call, which nothing refuses. */
vow_value on_release(vow_value input, void *context) {
    return run(input, context, RELEASE);
}

/* ------------------------------------------------------------ Waking who waits */

static void wake_locked(void *waiter, bool is_gone) {
    PyGILState_STATE state = lock_interpreter();
    PyObject *result = PyObject_CallMethod(waiter, "wake", NULL);
    if (result == NULL)
        PyErr_WriteUnraisable(waiter);
    Py_XDECREF(result);
    if (is_gone)
        drop_object(waiter);
    PyGILState_Release(state);
}

vow_value wake(vow_value input, void *waiter) {
    (void)input;
    if (gate_enter())
        GATE_THROUGH(wake_locked(waiter, false));
    return vow_none();
}

/* Also where the handler will never run: there was no memory for it, or its executor is gone. */
void wake_when_gone(void *waiter) {
    if (gate_enter())
        GATE_THROUGH(wake_locked(waiter, true));
}
