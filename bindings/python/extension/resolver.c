/* What is frequent of resolvers, promises that are settled at once, and many promises as one. */
#include "core.h"

PyTypeObject *resolver_type;

typedef struct {
    PyObject base;
    vow_resolver *handle; /* NULL: it has resolved, or was given back */
} resolver_object;

static void release_handle(vow_resolver *handle) {
    PyObject *type, *error, *traceback;
    if (handle == NULL || !releasing)
        return;
    PyErr_Fetch(&type, &error, &traceback);
    UNLOCKED(vow.resolver_release(handle));
    PyErr_Restore(type, error, traceback);
}

static vow_resolver *take_handle(resolver_object *self) {
    vow_resolver *handle = self->handle;
    self->handle = NULL;
    return handle;
}

static PyObject *resolver_make(PyTypeObject *type, vow_resolver *handle) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    resolver_object *self = (resolver_object *)allocate(type, 0);
    if (self == NULL)
        release_handle(handle);
    else
        self->handle = handle;
    return (PyObject *)self;
}

static void resolver_dealloc(PyObject *self) {
    release_handle(take_handle((resolver_object *)self));
    free_object(self);
}

/* Resolved, by whomever, it is of no more use, and would hold the outcome: so it goes. */
static PyObject *method_resolve(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"value", NULL};
    vow_value value;
    PyObject *item = Py_None;
    if (keywords == NULL && PyTuple_Size(arguments) == 1) /* as mostly */
        item = PyTuple_GetItem(arguments, 0);
    else if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:resolve", names, &item))
        return NULL;
    vow_resolver *handle = take_handle((resolver_object *)self);
    if (handle == NULL)
        return PyBool_FromLong(0);
    if (to_value(item, NULL, &value) < 0) {
        release_handle(handle);
        return NULL;
    }
    bool is_first;
    Py_BEGIN_ALLOW_THREADS;
    is_first = vow.resolve(handle, value);
    vow.resolver_release(handle);
    Py_END_ALLOW_THREADS;
    return gate_result(PyBool_FromLong(is_first));
}

static PyObject *method_reject(PyObject *self, PyObject *error) {
    PyObject *made = NULL;
    if (PyExceptionClass_Check(error) && (error = made = PyObject_CallObject(error, NULL)) == NULL)
        return NULL;
    if (!PyExceptionInstance_Check(error)) {
        PyErr_Format(PyExc_TypeError, "reject: %R is no exception", error);
        Py_XDECREF(made);
        return NULL;
    }
    vow_value value = error_to_value(error);
    Py_XDECREF(made);
    vow_resolver *handle = take_handle((resolver_object *)self);
    bool is_first = false;
    Py_BEGIN_ALLOW_THREADS;
    if (handle == NULL)
        vow.value_release(value);
    else {
        is_first = vow.reject(handle, value);
        vow.resolver_release(handle);
    }
    Py_END_ALLOW_THREADS;
    return gate_result(PyBool_FromLong(is_first));
}

static PyObject *method_drop(PyObject *self, PyObject *nothing) {
    release_handle(take_handle((resolver_object *)self));
    return gate_result(new_none());
}

static PyObject *get_ref(PyObject *object, void *nothing) {
    resolver_object *self = (resolver_object *)object;
    if (self->handle == NULL)
        return new_none();
    return PyObject_CallFunction(hooks.ResolverRef, "N",
                                 PyLong_FromVoidPtr(vow.resolver_retain(self->handle)));
}

/* _on_cancel(function): for who does not leave. */
static PyObject *method_on_cancel(PyObject *object, PyObject *function) {
    resolver_object *self = (resolver_object *)object;
    if (self->handle == NULL)
        return PyLong_FromLong(0);
    /* Making the call may collect garbage, which may run anything. */
    vow_resolver *handle = vow.resolver_retain(self->handle);
    call_object *call = call_new(function, NULL, NULL);
    if (call == NULL) {
        release_handle(handle);
        return NULL;
    }
    void *context = keep_object((PyObject *)call);
    Py_DECREF((PyObject *)call);
    int status;
    Py_BEGIN_ALLOW_THREADS;
    status = vow.resolver_on_cancel(handle, on_notice, context, destroy_object);
    vow.resolver_release(handle);
    Py_END_ALLOW_THREADS;
    return PyLong_FromLong(status);
}

#define RESOLVE_DOC                                                                                \
    "Fulfils the promise, or has it follow a promise or awaitable. True for the first call."

static PyMethodDef resolver_methods[] = {
    {"resolve", (PyCFunction)(void (*)(void))method_resolve, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(RESOLVE_DOC)},
    {"reject", method_reject, METH_O,
     PyDoc_STR("Rejects the promise with an exception. True for the first call.")},
    {"_drop", method_drop, METH_NOARGS, NULL},
    {"_on_cancel", method_on_cancel, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef resolver_getters[] = {
    {"_ref", get_ref, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot resolver_slots[] = {
    {Py_tp_dealloc, resolver_dealloc},
    {Py_tp_methods, resolver_methods},
    {Py_tp_getset, resolver_getters},
    {0, NULL},
};
static PyType_Spec resolver_spec = {"vow._core.Resolver", sizeof(resolver_object), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, resolver_slots};

int resolver_init(PyObject *module) {
    resolver_type = add_type(module, &resolver_spec, resolver_type);
    return resolver_type == NULL ? -1 : 0;
}

/* ------------------------------------------------------------ Making promises */

static PyObject *pair_of(uint32_t flags, bool follows) {
    vow_resolver *handle;
    PyObject *promise = promise_new(vow.promise_create_with(&handle, flags));
    PyObject *resolver = resolver_make((PyTypeObject *)hooks.Resolver, handle);
    if (promise != NULL)
        ((promise_object *)promise)->at_end = follows ? DETACH : LET_GO;
    PyObject *pair = promise && resolver ? PyTuple_Pack(2, promise, resolver) : NULL;
    Py_XDECREF(promise);
    Py_XDECREF(resolver);
    return pair;
}

PyObject *resolver_resolved(PyObject *module, PyObject *item) {
    vow_value value;
    if ((PyObject *)Py_TYPE(item) == hooks.Promise) {
        Py_INCREF(item);
        return item;
    }
    if (to_value(item, NULL, &value) < 0)
        return NULL;
    return promise_new(promise_with(value));
}

PyObject *resolver_rejected(PyObject *module, PyObject *error) {
    if (!PyExceptionInstance_Check(error)) {
        PyErr_Format(PyExc_TypeError, "rejected: %R is no exception", error);
        return NULL;
    }
    return promise_new(promise_with(error_to_value(error)));
}

PyObject *resolver_pending(PyObject *module, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"kind", NULL};
    PyObject *kind;
    if ((keywords != NULL || PyTuple_Size(arguments) > 0) &&
        !PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:pending", names, &kind))
        return NULL;
    return pair_of(0, false);
}

/* following(is_own): for what settles, when it is cancelled, in its own time. Work of its own goes
 * on when nobody has the promise any more. */
PyObject *resolver_following(PyObject *module, PyObject *is_own) {
    return pair_of(VOW_COOPERATIVE, is_own == Py_True);
}

/* ------------------------------------------------------------ Many as one */

enum { ALL, ALL_SETTLED, ANY, RACE };

static vow_promise *combined(int kind, vow_promise **members, size_t count) {
    switch (kind) {
    case ALL:
        return vow.all(members, count);
    case ALL_SETTLED:
        return vow.all_settled(members, count);
    case ANY:
        return vow.any(members, count);
    default:
        return vow.race(members, count);
    }
}

/* A list of promises, from any iterable of awaitables. */
static PyObject *promises_of(PyObject *items, PyObject *where) {
    PyObject *list = PySequence_List(items);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        if ((PyObject *)Py_TYPE(item) == hooks.Promise)
            continue;
        Py_INCREF(item);
        PyObject *promise = PyObject_CallFunctionObjArgs(hooks.to_promise, item, where, NULL);
        Py_DECREF(item);
        if (promise == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, promise);
    }
    return list;
}

/* combine(kind, awaitables, where) */
PyObject *combine(PyObject *module, PyObject *arguments) {
    int kind;
    PyObject *items, *where;
    if (!PyArg_ParseTuple(arguments, "iOO", &kind, &items, &where) || enter_asyncio() < 0)
        return NULL;
    PyObject *list = promises_of(items, where);
    if (list == NULL)
        return NULL;
    Py_ssize_t count = PyList_Size(list), held = 0;
    vow_promise **members = PyMem_Malloc(((size_t)count + 1) * sizeof *members);
    vow_promise *together = NULL;
    if (members == NULL)
        PyErr_NoMemory();
    for (; members != NULL && held < count; held++) {
        members[held] = promise_hold_for_good((promise_object *)PyList_GetItem(list, held));
        if (members[held] == NULL)
            break;
    }
    bool is_whole = members != NULL && held == count;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    Py_BEGIN_ALLOW_THREADS;
    if (is_whole)
        together = combined(kind, members, (size_t)count);
    else
        while (held-- > 0)
            vow.promise_release(members[held]);
    Py_END_ALLOW_THREADS;
    PyErr_Restore(type, error, traceback);
    PyMem_Free(members);
    Py_DECREF(list);
    return is_whole ? gate_result(promise_new(together)) : NULL;
}
