/* The handlers of links, as the library calls them: through the gate, under the interpreter's lock,
 * in the context variables of their registration. None raises: what Python raises becomes an error
 * value. */
#include <pthread.h>
#include <string.h>

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
    gate_forked();
    forget_ended_states();
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
    unsigned long thread;
    PyObject *cls;
    if (!PyArg_ParseTuple(arguments, "kO", &thread, &cls))
        return NULL;
    return PyLong_FromLong(PyThreadState_SetAsyncExc(thread, cls));
}

PyObject *handlers_inside(PyObject *module, PyObject *nothing) {
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

/* The exception that is set, with its traceback; it is not set any more. */
static PyObject *take_exception(void) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(error, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return error;
}

/* `KeyboardInterrupt` and `SystemExit` on the main thread leave the call of the library as well. */
static bool leaves(PyObject *error) {
    if (!PyErr_GivenExceptionMatches(error, PyExc_KeyboardInterrupt) &&
        !PyErr_GivenExceptionMatches(error, PyExc_SystemExit))
        return false;
    PyObject *is_main = PyObject_CallFunctionObjArgs(hooks.is_main, NULL);
    bool is_so = is_main == Py_True;
    Py_XDECREF(is_main);
    if (is_so) {
        errors_delivered = true;
        gate_leave_with(error);
    }
    PyErr_Clear();
    return is_so;
}

/* The error value of the exception that is set. */
static vow_value failure(void) {
    PyObject *error = take_exception();
    leaves(error);
    vow_value value = error_to_value(error);
    Py_XDECREF(error);
    return value;
}

/* Says the exception that is set, which nobody can be given. */
static void report(PyObject *source) {
    PyObject *error = take_exception(), *said = NULL;
    if (!leaves(error) &&
        (said = PyObject_CallFunctionObjArgs(hooks.report, error, source, NULL)) == NULL)
        PyErr_WriteUnraisable(source);
    Py_XDECREF(said);
    Py_XDECREF(error);
}

/* report(error, source): the same, for Python code. */
PyObject *handlers_report(PyObject *module, PyObject *arguments) {
    PyObject *error, *source;
    if (!PyArg_ParseTuple(arguments, "OO", &error, &source))
        return NULL;
    Py_INCREF(Py_TYPE(error));
    Py_INCREF(error);
    PyErr_Restore((PyObject *)Py_TYPE(error), error, PyException_GetTraceback(error));
    report(source);
    return new_none();
}

static int result_of(call_object *call, PyObject *context, vow_value input, enum how how,
                     vow_value *value) {
    PyObject *function = how == REJECTED || how == RELEASE ? call->other : call->function;
    PyObject *argument = NULL, *result = NULL, *error = NULL;
    int status = -1;
    if (how == REJECTED) {
        argument = error_from(input);
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
        error = error_from(input);
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
    PyObject *error = PyObject_CallFunctionObjArgs(hooks.refused, NULL);
    if (error == NULL)
        return -1;
    bool is_refused = error != Py_None;
    if (is_refused)
        *value = error_to_value(error);
    Py_DECREF(error);
    return is_refused;
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

/* ------------------------------------------------------------ What answers nothing, and questions
 */

enum question { NOTICE, MAY_RETRY, PROGRESS };

/* What a function that is no handler answers to an argument (consumed, may be NULL), and to a
 * second one. What it raises is reported, and answered with no. */
static bool ask_locked(call_object *call, enum question what, vow_value value, double fraction,
                       const char *note) {
    PyGILState_STATE state = lock_interpreter();
    struct running running;
    PyObject *function = what == MAY_RETRY ? call->other : call->function;
    PyObject *context = NULL, *first = NULL, *second = NULL, *result = NULL;
    Py_INCREF((PyObject *)call);
    begin_running(&running, function);
    if (what == MAY_RETRY)
        first = value.kind == VOW_ERROR ? error_from(value) : from_value(value);
    else if (what == PROGRESS) {
        first = PyFloat_FromDouble(fraction);
        second = note == NULL ? new_none()
                              : PyUnicode_DecodeUTF8(note, (Py_ssize_t)strlen(note), "replace");
    }
    if (!PyErr_Occurred() && (context = copied(call->context)) != NULL) {
        if (second != NULL)
            result = PyObject_CallMethod(context, "run", "OOO", function, first, second);
        else
            result = call_in(context, function, first);
    }
    int answer = result == NULL ? -1 : what == MAY_RETRY ? PyObject_IsTrue(result) : 0;
    if (answer < 0)
        report(what == PROGRESS && call->other != NULL ? call->other : function);
    Py_XDECREF(context);
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(result);
    end_running(&running);
    Py_DECREF((PyObject *)call);
    PyGILState_Release(state);
    return answer > 0;
}

void on_notice(void *context) {
    if (gate_enter())
        GATE_THROUGH(ask_locked(context, NOTICE, vow_none(), 0, NULL));
}

bool on_condition(vow_value value, void *context) {
    bool answer;
    if (!gate_enter())
        return false;
    GATE_THROUGH(answer = ask_locked(context, MAY_RETRY, value, 0, NULL));
    return answer;
}

void on_progress(double fraction, const char *note, void *context) {
    if (gate_enter())
        GATE_THROUGH(ask_locked(context, PROGRESS, vow_none(), fraction, note));
}

/* ------------------------------------------------------------ Errors that nobody has looked at */

static void tell_locked(vow_value value) {
    PyGILState_STATE state = lock_interpreter();
    PyObject *error = error_from(value);
    PyObject *told = error ? PyObject_CallFunctionObjArgs(hooks.tell, error, NULL) : NULL;
    if (told == NULL)
        report(hooks.tell);
    Py_XDECREF(told);
    Py_XDECREF(error);
    PyGILState_Release(state);
}

void handlers_tell(vow_value value) {
    if (gate_enter())
        GATE_THROUGH(tell_locked(value));
}

static void on_unhandled(vow_value value, void *nothing) {
    handlers_tell(value);
}

void handlers_begin(void) {
    vow.on_unhandled(on_unhandled, NULL);
}

/* ------------------------------------------------------------ Executors of a program */

static void submit_locked(void *function, void (*run)(void *work), void *work) {
    PyGILState_STATE state = lock_interpreter();
    PyObject *done =
        PyObject_CallFunction(hooks.submit, "ONN", (PyObject *)function,
                              PyLong_FromVoidPtr((void *)(uintptr_t)run), PyLong_FromVoidPtr(work));
    if (done == NULL)
        PyErr_WriteUnraisable(function);
    Py_XDECREF(done);
    PyGILState_Release(state);
}

/* An executor has to run what it is given; the Python handlers in there are refused in their turn.
 */
static void on_submit(void *function, void (*run)(void *work), void *work) {
    if (gate_enter())
        GATE_THROUGH(submit_locked(function, run, work));
    else
        run(work);
}

/* executor_of(submit, is_serial): the address of an executor, owned. */
PyObject *handlers_executor_of(PyObject *module, PyObject *arguments) {
    static const vow_executor_class classes[] = {
        {sizeof(vow_executor_class), on_submit, NULL, destroy_object, 0},
        {sizeof(vow_executor_class), on_submit, NULL, destroy_object, VOW_SERIAL}};
    PyObject *function;
    int is_serial;
    if (!PyArg_ParseTuple(arguments, "Op", &function, &is_serial))
        return NULL;
    return PyLong_FromVoidPtr(vow.executor_custom(&classes[is_serial], keep_object(function)));
}

/* run_work(run, work): does a piece of work that an executor was given. */
PyObject *handlers_run_work(PyObject *module, PyObject *arguments) {
    unsigned long long run, work;
    if (!PyArg_ParseTuple(arguments, "KK", &run, &work))
        return NULL;
    UNLOCKED(((void (*)(void *))(uintptr_t)run)((void *)(uintptr_t)work));
    return gate_result(new_none());
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
    if (gate_enter())
        GATE_THROUGH(wake_locked(waiter, false));
    return vow_none();
}

/* Also where the handler will never run: there was no memory for it, or its executor is gone. */
void wake_when_gone(void *waiter) {
    if (gate_enter())
        GATE_THROUGH(wake_locked(waiter, true));
}
