/* Awaiting promises: without the loop, where they are settled. */
#include "core.h"

typedef struct {
    PyObject base;
    promise_object *promise;
} ready_object;

static PyTypeObject *ready_type;

static void ready_dealloc(PyObject *self) {
    Py_CLEAR(((ready_object *)self)->promise);
    free_object(self);
}

static PyObject *ready_self(PyObject *self) {
    Py_INCREF(self);
    return self;
}

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

/* Ends at once: with the value as that of StopIteration, or by raising. What is raised may run any
 * code, which may come here again: so the promise is taken first. */
static PyObject *ready_next(PyObject *self) {
    promise_object *promise = ((ready_object *)self)->promise;
    if (promise == NULL)
        return NULL;
    ((ready_object *)self)->promise = NULL;
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
    Py_DECREF((PyObject *)promise);
    return NULL;
}

PyObject *promise_await(PyObject *self) {
    int status = promise_take_outcome((promise_object *)self);
    if (status < 0)
        return NULL;
    if (status == 0)
        return PyObject_CallFunctionObjArgs(hooks.await_pending, self, NULL);
    ready_object *ready = PyObject_New(ready_object, ready_type);
    if (ready != NULL) {
        Py_INCREF(self);
        ready->promise = (promise_object *)self;
    }
    return (PyObject *)ready;
}

static PyType_Slot ready_slots[] = {
    {Py_tp_dealloc, ready_dealloc},
    {Py_tp_iter, ready_self},
    {Py_tp_iternext, ready_next},
    {0, NULL},
};
static PyType_Spec ready_spec = {"vow._core.Ready", sizeof(ready_object), 0, Py_TPFLAGS_DEFAULT,
                                 ready_slots};

int awaiting_init(PyObject *module) {
    ready_type = add_type(module, &ready_spec, ready_type);
    return ready_type == NULL ? -1 : 0;
}
