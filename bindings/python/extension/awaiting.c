/* Awaiting a promise: what `__await__` gives, which a coroutine yields from. What is settled is
 * read without the loop; else asyncio gets a future of its own, and waking.c fulfils it. */
#include "core.h"

typedef struct {
    PyObject base;
    promise_object *promise; /* NULL: it has ended */
    PyObject *waiter;        /* once it has begun to wait */
    PyObject *waiting;       /* the set that the waiter is in */
    vow_promise *reaction;
    PyObject *rest; /* an iterator that does what is left to do */
} awaiting_object;

static PyTypeObject *awaiting_type;

PyObject *promise_await(PyObject *promise) {
    awaiting_object *self = PyObject_GC_New(awaiting_object, awaiting_type);
    if (self == NULL)
        return NULL;
    Py_INCREF(promise);
    self->promise = (promise_object *)promise;
    self->waiter = self->waiting = self->rest = NULL;
    self->reaction = NULL;
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

static int awaiting_traverse(PyObject *object, visitproc visit, void *arg) {
    awaiting_object *self = (awaiting_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->promise);
    Py_VISIT(self->waiter);
    Py_VISIT(self->waiting);
    Py_VISIT(self->rest);
    return 0;
}

/* It waits no longer. */
static void leave(awaiting_object *self) {
    vow_promise *reaction = self->reaction;
    PyObject *waiter = self->waiter, *waiting = self->waiting;
    if (waiter == NULL)
        return;
    self->reaction = NULL;
    self->waiter = self->waiting = NULL;
    if (PySet_Discard(waiting, waiter) < 0)
        PyErr_Clear();
    Py_DECREF(waiting);
    Py_DECREF(waiter);
    promise_release(reaction);
}

/* Nobody waits any more. Who is the only reader cancels. */
static void stop(awaiting_object *self) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    promise_object *promise = self->promise;
    self->promise = NULL;
    if (promise != NULL && self->waiter != NULL && releasing) {
        waiter_leave(self->waiter);
        promise_cancel(self->reaction);
        if (self->waiter != NULL && !promise_read_by_others(promise, self->waiter))
            promise_cancel(promise->handle);
    }
    leave(self);
    Py_XDECREF((PyObject *)promise);
    PyErr_Restore(type, error, traceback);
}

static int awaiting_clear(PyObject *object) {
    awaiting_object *self = (awaiting_object *)object;
    stop(self);
    Py_CLEAR(self->rest);
    return 0;
}

static void awaiting_dealloc(PyObject *object) {
    awaiting_object *self = (awaiting_object *)object;
    PyObject_GC_UnTrack(object);
    if (self->promise != NULL || self->rest != NULL) /* else it has ended, as mostly */
        awaiting_clear(object);
    free_object(object);
}

/* ------------------------------------------------------------ Outcomes */

/* A StopIteration would be taken for a value: as generators do, it is the cause of another. */
static void raise_stop(promise_object *promise) {
    PyErr_SetString(PyExc_RuntimeError, "the promise was rejected with StopIteration");
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    Py_INCREF(promise->error);
    PyException_SetCause(error, promise->error);
    PyErr_Restore(type, error, traceback);
}

/* With the value as that of StopIteration, or by raising. */
static void raise_outcome(promise_object *promise) {
    PyObject *value = promise->value;
    if (promise->error != NULL && PyErr_GivenExceptionMatches(promise->error, PyExc_StopIteration))
        raise_stop(promise);
    else if (promise->error != NULL)
        promise_raise(promise);
    else if (value != NULL && (PyTuple_Check(value) || PyExceptionInstance_Check(value))) {
        /* Which would be taken for the arguments, or for the exception itself. */
        PyObject *stop = PyObject_CallFunctionObjArgs(PyExc_StopIteration, value, NULL);
        if (stop != NULL)
            PyErr_SetObject(PyExc_StopIteration, stop);
        Py_XDECREF(stop);
    } else if (value != NULL && value != Py_None)
        PyErr_SetObject(PyExc_StopIteration, value);
}

/* What is raised may run any code, which may come here again: so the promise is taken first. */
static PyObject *finish(awaiting_object *self) {
    promise_object *promise = self->promise;
    self->promise = NULL;
    leave(self);
    raise_outcome(promise);
    Py_DECREF((PyObject *)promise);
    return NULL;
}

/* Ends with an exception: this one, or the one that is set. */
static PyObject *fail(awaiting_object *self, PyObject *error) {
    PyObject *type, *raised, *traceback;
    Py_XINCREF(error);
    PyErr_Fetch(&type, &raised, &traceback);
    PyObject *promise = (PyObject *)self->promise;
    self->promise = NULL;
    leave(self);
    Py_XDECREF(promise);
    PyErr_Restore(type, raised, traceback);
    if (error != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

/* ------------------------------------------------------------ Waiting */

/* Not by PyIter_Next, which has no place for a value at the end. */
static PyObject *send_to(PyObject *rest, PyObject *item) {
    Py_INCREF(rest);
    PyObject *next = PyObject_CallMethod(rest, "send", "O", item);
    Py_DECREF(rest);
    return next;
}

/* What is left is done by a generator, consumed; NULL: an exception is set. */
static PyObject *delegate(awaiting_object *self, PyObject *rest) {
    if (rest == NULL)
        return fail(self, NULL);
    PyObject *before = self->rest;
    self->rest = rest;
    Py_XDECREF(before);
    return send_to(rest, Py_None);
}

/* The asyncio future that the task is to wait for. */
static PyObject *begin(awaiting_object *self) {
    struct place place;
    int status = place_here(&place);
    if (status < 0)
        return fail(self, NULL);
    if (status == 0)
        return delegate(self, PyObject_CallFunctionObjArgs(hooks.await_elsewhere,
                                                           (PyObject *)self->promise, NULL));
    promise_object *promise = self->promise;
    Py_INCREF((PyObject *)promise);
    PyObject *future = NULL, *waiter = waiter_new(&place, &future);
    if (waiter != NULL && self->promise == promise && self->waiter == NULL) {
        self->waiter = waiter;
        self->waiting = place.waiting;
        Py_INCREF(self->waiting);
        if (PySet_Add(place.waiting, waiter) < 0 ||
            waiter_wait(waiter, promise, &place, &self->reaction) < 0)
            Py_CLEAR(future);
    } else {
        if (waiter != NULL)
            PyErr_SetString(PyExc_RuntimeError, "an await was begun twice");
        Py_XDECREF(waiter);
        Py_CLEAR(future);
    }
    /* Held by this object, by this function, by who awaits, and by others. */
    PyObject *seen = NULL;
    if (future != NULL && Py_REFCNT((PyObject *)promise) > 3 &&
        (seen = PyObject_CallFunctionObjArgs(hooks.begun, NULL)) == NULL)
        PyErr_WriteUnraisable(hooks.begun);
    Py_XDECREF(seen);
    Py_DECREF((PyObject *)promise);
    place_leave(&place);
    return future == NULL ? fail(self, NULL) : future;
}

/* Woken, though the promise is pending: the attachment was closed, or there was no memory. */
static PyObject *not_settled(awaiting_object *self) {
    if (!waiter_is_woken(self->waiter)) {
        PyErr_SetString(PyExc_RuntimeError, "a promise was awaited, and then not waited for");
        stop(self);
        return NULL;
    }
    waiter_leave(self->waiter);
    PyObject *number = PyLong_FromVoidPtr(self->reaction);
    PyObject *error = number == NULL ? NULL : promise_why_not(NULL, number);
    Py_XDECREF(number);
    fail(self, error);
    Py_XDECREF(error);
    return NULL;
}

static PyObject *awaiting_next(PyObject *object) {
    awaiting_object *self = (awaiting_object *)object;
    if (self->rest != NULL)
        return send_to(self->rest, Py_None);
    if (self->promise == NULL)
        return NULL;
    int status = promise_take_outcome(self->promise);
    if (status < 0)
        return fail(self, NULL);
    if (self->promise == NULL) /* by foreign code that has run meanwhile */
        return NULL;
    if (status > 0)
        return finish(self);
    return self->waiter == NULL ? begin(self) : not_settled(self);
}

/* ------------------------------------------------------------ Being stopped */

static PyObject *self_iter(PyObject *self) {
    Py_INCREF(self);
    return self;
}

static PyObject *awaiting_send(PyObject *object, PyObject *item) {
    awaiting_object *self = (awaiting_object *)object;
    if (self->rest != NULL)
        return send_to(self->rest, item);
    PyObject *next = awaiting_next(object);
    if (next == NULL && !PyErr_Occurred())
        PyErr_SetNone(PyExc_StopIteration);
    return next;
}

/* The exception that is thrown in, by its class, value and traceback, as generators take it. */
static PyObject *thrown(PyObject *arguments) {
    PyObject *type, *value = NULL, *traceback = NULL;
    if (!PyArg_ParseTuple(arguments, "O|OO:throw", &type, &value, &traceback))
        return NULL;
    if (PyExceptionInstance_Check(type)) {
        value = type;
        type = (PyObject *)Py_TYPE(type);
    } else if (!PyExceptionClass_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "throw: an exception is needed");
        return NULL;
    }
    PyErr_SetObject(type, value == Py_None ? NULL : value);
    PyObject *before;
    PyErr_Fetch(&type, &value, &before);
    PyErr_NormalizeException(&type, &value, &before);
    if (traceback != NULL && traceback != Py_None)
        PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(before);
    return value;
}

static PyObject *awaiting_throw(PyObject *object, PyObject *arguments) {
    awaiting_object *self = (awaiting_object *)object;
    if (self->rest != NULL) {
        PyObject *method = PyObject_GetAttrString(self->rest, "throw");
        PyObject *item = method == NULL ? NULL : PyObject_CallObject(method, arguments);
        Py_XDECREF(method);
        return item;
    }
    PyObject *error = thrown(arguments);
    if (error == NULL)
        return NULL;
    if (self->waiter == NULL)
        fail(self, error);
    else {
        waiter_leave(self->waiter);
        promise_cancel(self->reaction);
        if (self->waiter == NULL || promise_read_by_others(self->promise, self->waiter))
            fail(self, error);
        else {
            PyObject *rest = PyObject_CallFunctionObjArgs(
                hooks.await_thrown, (PyObject *)self->promise, self->waiter, error, NULL);
            leave(self);
            Py_DECREF(error);
            return delegate(self, rest);
        }
    }
    Py_DECREF(error);
    return NULL;
}

static PyObject *awaiting_close(PyObject *object, PyObject *nothing) {
    awaiting_object *self = (awaiting_object *)object;
    PyObject *rest = self->rest;
    self->rest = NULL;
    stop(self);
    if (rest == NULL)
        return new_none();
    PyObject *result = PyObject_CallMethod(rest, "close", NULL);
    Py_DECREF(rest);
    return result;
}

/* leave(): whether it waits no longer, which it does where others read the promise still. */
static PyObject *awaiting_leave(PyObject *object, PyObject *nothing) {
    awaiting_object *self = (awaiting_object *)object;
    if (self->promise == NULL || self->waiter == NULL ||
        !promise_read_by_others(self->promise, self->waiter))
        return PyBool_FromLong(0);
    waiter_leave(self->waiter);
    promise_cancel(self->reaction);
    leave(self);
    return PyBool_FromLong(1);
}

/* ------------------------------------------------------------ The type */

static PyMethodDef awaiting_methods[] = {
    {"send", awaiting_send, METH_O, NULL},
    {"throw", awaiting_throw, METH_VARARGS, NULL},
    {"close", awaiting_close, METH_NOARGS, NULL},
    {"leave", awaiting_leave, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot awaiting_slots[] = {
    {Py_tp_dealloc, awaiting_dealloc},
    {Py_tp_traverse, awaiting_traverse},
    {Py_tp_clear, awaiting_clear},
    {Py_tp_iter, self_iter},
    {Py_tp_iternext, awaiting_next},
    {Py_tp_methods, awaiting_methods},
    {0, NULL},
};
static PyType_Spec awaiting_spec = {"vow._core.Awaiting", sizeof(awaiting_object), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, awaiting_slots};

int awaiting_init(PyObject *module) {
    awaiting_type = add_type(module, &awaiting_spec, awaiting_type);
    return awaiting_type == NULL ? -1 : 0;
}
