/* What is frequent of a promise: links, and reading. The class of the package
 * adds the rest. */
#include "core.h"

PyTypeObject *promise_type;
bool releasing = true;

/* Lets go of the interpreter's lock: the last reference may run code of anybody's. */
static void give_back(vow_promise *handle, void (*give)(vow_promise *)) {
    PyObject *type, *error, *traceback;
    if (handle == NULL || !releasing)
        return;
    PyErr_Fetch(&type, &error, &traceback);
    UNLOCKED(give(handle));
    PyErr_Restore(type, error, traceback);
}

static void cancel_and_release(vow_promise *handle) {
    vow.cancel(handle);
    vow.promise_release(handle);
}

void promise_release(vow_promise *handle) {
    give_back(handle, vow.promise_release);
}

/* Tells producers, which may be anybody's. */
void promise_cancel(vow_promise *handle) {
    if (handle == NULL)
        return;
    vow.promise_retain(handle);
    Py_BEGIN_ALLOW_THREADS;
    vow.cancel(handle);
    vow.promise_release(handle);
    Py_END_ALLOW_THREADS;
}

static bool is_plain(vow_kind kind) {
    return kind == VOW_NONE || kind == VOW_INT || kind == VOW_BOOL || kind == VOW_DOUBLE;
}

/* An object of C code may be a thenable, whose function runs. */
vow_promise *promise_with(vow_value value) {
    vow_promise *handle;
    if (is_plain(value.kind) || value.kind == VOW_STRING)
        return vow.promise_with(value);
    UNLOCKED(handle = vow.promise_with(value));
    return handle;
}

/* The promises that have a handle. */
static promise_object *first_promise;

static void enlist(promise_object *self, vow_promise *handle) {
    self->handle = handle;
    self->next = first_promise;
    self->place = &first_promise;
    if (first_promise != NULL)
        first_promise->place = &self->next;
    first_promise = self;
}

/* Gives the handle, which is not there any more. */
static vow_promise *take_handle(promise_object *self) {
    vow_promise *handle = self->handle;
    if (handle == NULL)
        return NULL;
    self->handle = NULL;
    *self->place = self->next;
    if (self->next != NULL)
        self->next->place = self->place;
    return handle;
}

/* They are copied before the list is made, which may collect garbage. One that is going is none. */
PyObject *promise_list(PyObject *module, PyObject *nothing) {
    Py_ssize_t count = 0, i = 0;
    for (promise_object *one = first_promise; one != NULL; one = one->next)
        count += Py_REFCNT((PyObject *)one) > 0;
    PyObject **copies = PyMem_Malloc(((size_t)count + 1) * sizeof *copies);
    if (copies == NULL)
        return PyErr_NoMemory();
    for (promise_object *one = first_promise; one != NULL; one = one->next)
        if (Py_REFCNT((PyObject *)one) > 0) {
            Py_INCREF((PyObject *)one);
            copies[i++] = (PyObject *)one;
        }
    PyObject *list = PyList_New(count);
    for (i = 0; i < count; i++)
        if (list != NULL)
            PyList_SetItem(list, i, copies[i]);
        else
            Py_DECREF(copies[i]);
    PyMem_Free(copies);
    return list;
}

/* Consumes the handle, also when there is no memory. */
static PyObject *promise_make(PyTypeObject *type, vow_promise *handle) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    promise_object *self = (promise_object *)allocate(type, 0);
    if (self == NULL)
        promise_release(handle);
    else if (handle != NULL)
        enlist(self, handle);
    return (PyObject *)self;
}

PyObject *promise_new(vow_promise *handle) {
    return promise_make((PyTypeObject *)hooks.Promise, handle);
}

static PyObject *promise_of(PyObject *type, PyObject *number) {
    vow_promise *handle = PyLong_AsVoidPtr(number);
    if (handle == NULL && PyErr_Occurred())
        return NULL;
    return gate_result(promise_make((PyTypeObject *)type, handle));
}

static int promise_traverse(PyObject *object, visitproc visit, void *arg) {
    promise_object *self = (promise_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->value);
    Py_VISIT(self->error);
    Py_VISIT(self->traceback);
    Py_VISIT(self->callbacks);
    return 0;
}

static int promise_clear(PyObject *object) {
    promise_object *self = (promise_object *)object;
    Py_CLEAR(self->value);
    Py_CLEAR(self->error);
    Py_CLEAR(self->traceback);
    Py_CLEAR(self->callbacks);
    return 0;
}

static void promise_dealloc(PyObject *object) {
    promise_object *self = (promise_object *)object;
    PyObject_GC_UnTrack(object);
    promise_clear(object);
    bool is_read = self->readers != NULL && self->readers->live > 0;
    readers_drop(self->readers);
    self->readers = NULL;
    void (*give)(vow_promise *) = vow.promise_release;
    if (self->at_end == DETACH && !is_read)
        give = vow.detach;
    else if (self->at_end == CANCEL && !self->watched)
        give = cancel_and_release;
    give_back(take_handle(self), give);
    free_object(object);
}

/* ------------------------------------------------------------ References and readers */

/* One more reference, owned, for a function that consumes it. NULL: an exception. */
vow_promise *promise_hold(promise_object *self) {
    vow_value value;
    if (self->handle != NULL)
        return vow.promise_retain(self->handle);
    PyObject *item = self->value ? self->value : Py_None;
    if (self->error != NULL)
        value = error_to_value(self->error);
    else if ((self->listed ? to_list_value(item, &value) : to_value(item, NULL, &value)) < 0)
        return NULL;
    return promise_with(value);
}

/* For who may be the last to want it from now on. */
vow_promise *promise_give(promise_object *self) {
    self->at_end = LET_GO;
    return promise_hold(self);
}

static void add_handlers(promise_object *self) {
    self->watched = 1;
    if (self->readers != NULL)
        atomic_store(&self->readers->has_handlers, true);
}

static int add_reader(promise_object *self, reader_object *reader) {
    int status = self->handle == NULL ? 0 : reader_reads(reader, &self->readers);
    add_handlers(self);
    return status;
}

/* For a task that awaits it. */
vow_promise *promise_hold_awaited(promise_object *self, reader_object *waiter, bool *is_rung) {
    vow_promise *handle = promise_hold(self);
    bool is_first = !self->watched;
    if (handle != NULL && self->handle != NULL && reader_reads(waiter, &self->readers) < 0) {
        promise_release(handle);
        return NULL;
    }
    self->watched = 1;
    if (self->readers != NULL && is_first)
        self->readers->is_rung = true;
    *is_rung = self->readers != NULL && self->readers->is_rung;
    return handle;
}

/* For a reader whose end is not told. */
vow_promise *promise_hold_for_good(promise_object *self) {
    vow_promise *handle = promise_hold(self);
    if (handle != NULL && add_reader(self, NULL) < 0) {
        promise_release(handle);
        return NULL;
    }
    return handle;
}

static PyObject *method_hold(PyObject *self, PyObject *nothing) {
    vow_promise *handle = promise_give((promise_object *)self);
    return handle == NULL ? NULL : PyLong_FromVoidPtr(handle);
}

static PyObject *method_hold_for_good(PyObject *self, PyObject *nothing) {
    vow_promise *handle = promise_hold_for_good((promise_object *)self);
    return handle == NULL ? NULL : PyLong_FromVoidPtr(handle);
}

static reader_object *as_reader(PyObject *reader) {
    if (PyType_IsSubtype(Py_TYPE(reader), reader_type))
        return (reader_object *)reader;
    PyErr_Format(PyExc_TypeError, "%R is no Reader", reader);
    return NULL;
}

static PyObject *method_reader(PyObject *self, PyObject *item) {
    reader_object *reader = as_reader(item);
    if (reader == NULL || add_reader((promise_object *)self, reader) < 0)
        return NULL;
    return new_none();
}

bool promise_read_by_others(promise_object *self, PyObject *reader) {
    struct readers *readers = self->readers;
    return readers != NULL && readers->live > (((reader_object *)reader)->of == readers);
}

static PyObject *method_read_by_others(PyObject *self, PyObject *item) {
    if (as_reader(item) == NULL)
        return NULL;
    return PyBool_FromLong(promise_read_by_others((promise_object *)self, item));
}

/* ------------------------------------------------------------ Outcomes */

/* Reading an outcome makes it Python's own. Making it one may run any code, which may read too, and
 * the first is the one; `held` keeps the value till then. 1: settled, 0: pending, -1: an exception.
 */
int promise_take_outcome(promise_object *self) {
    vow_value value;
    vow_promise *handle = self->handle;
    if (handle == NULL)
        return 1;
    if (!vow.promise_peek(handle, &value))
        return 0;
    vow_promise *held = is_plain(value.kind) ? NULL : vow.promise_retain(handle);
    PyObject *item = from_value(value);
    if (item != NULL && self->handle != NULL) {
        struct readers *readers = self->readers;
        if (value.kind == VOW_ERROR) {
            self->error = item;
            self->traceback = PyException_GetTraceback(item);
        } else
            self->value = item;
        self->listed = value.kind == VOW_LIST;
        self->watched = 1;
        self->readers = NULL;
        take_handle(self);
        readers_drop(readers);
        if (held == NULL && releasing) /* a plain value is settled: this frees memory alone */
            vow.promise_release(handle);
        else
            promise_release(handle);
    } else
        Py_XDECREF(item);
    promise_release(held);
    return item == NULL ? -1 : 1;
}

static PyObject *method_settled(PyObject *self, PyObject *nothing) {
    int status = promise_take_outcome((promise_object *)self);
    return status < 0 ? NULL : PyBool_FromLong(status);
}

void promise_raise(promise_object *self) {
    PyObject *error = self->error;
    Py_INCREF(error);
    PyException_SetTraceback(error, self->traceback ? self->traceback : Py_None);
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
}

/* The value of a settled promise, or its exception, as it was when it was read first. */
static PyObject *method_read(PyObject *object, PyObject *nothing) {
    promise_object *self = (promise_object *)object;
    if (self->error != NULL) {
        promise_raise(self);
        return NULL;
    }
    PyObject *value = self->value ? self->value : Py_None;
    Py_INCREF(value);
    return value;
}

static PyObject *method_state(PyObject *object, PyObject *nothing) {
    promise_object *self = (promise_object *)object;
    if (self->handle != NULL)
        return PyLong_FromLong((long)vow.promise_state(self->handle));
    return PyLong_FromLong(self->error == NULL ? VOW_FULFILLED : VOW_REJECTED);
}

static PyObject *get_ref(PyObject *object, void *nothing) {
    promise_object *self = (promise_object *)object;
    if (self->handle == NULL)
        return new_none();
    return PyObject_CallFunction(hooks.PromiseRef, "N",
                                 PyLong_FromVoidPtr(vow.promise_retain(self->handle)));
}

/* _give_up(error): lets go of a rejection that nobody has read, as the end of this object would;
 * with another in its place. */
static PyObject *method_give_up(PyObject *object, PyObject *error) {
    promise_object *self = (promise_object *)object;
    vow_promise *handle = self->handle;
    if (!PyExceptionInstance_Check(error)) {
        PyErr_Format(PyExc_TypeError, "%R is no exception", error);
        return NULL;
    }
    if (handle == NULL)
        return new_none();
    Py_INCREF(error);
    self->error = error;
    promise_release(take_handle(self));
    return new_none();
}

/* ------------------------------------------------------------ Links */

enum link { THEN, CATCH, FINALLY, CALLBACK, RUN };

/* link(function, other, only, link, executor, token, label), the last three as addresses. */
static PyObject *method_link(PyObject *object, PyObject *arguments) {
    promise_object *self = (promise_object *)object;
    PyObject *function, *other, *only;
    int link;
    unsigned long long executor, token, label;
    if (!PyArg_ParseTuple(arguments, "OOOiKKK", &function, &other, &only, &link, &executor, &token,
                          &label) ||
        enter_asyncio() < 0)
        return NULL;
    call_object *call = call_new(function, other, only);
    if (call == NULL)
        return NULL;
    if (link == CALLBACK) /* which is no reader */
        add_handlers(self);
    vow_promise *handle = NULL;
    if (link == CALLBACK || add_reader(self, &call->reader) == 0)
        handle = promise_hold(self);
    if (handle == NULL) {
        Py_DECREF((PyObject *)call);
        return NULL;
    }
    vow_reaction reaction = {.size = sizeof reaction,
                             .context = keep_object((PyObject *)call),
                             .destroy = destroy_object,
                             .executor = (vow_executor *)(uintptr_t)executor,
                             .token = (vow_token *)(uintptr_t)token,
                             .label = (const char *)(uintptr_t)label};
    if (link == FINALLY) {
        reaction.on_fulfilled = reaction.on_rejected = on_settled;
        reaction.flags = VOW_FINALLY;
    } else if (link >= CALLBACK) {
        reaction.on_fulfilled = on_settled;
        reaction.on_rejected = link == CALLBACK ? on_settled : NULL;
    } else {
        if (link == THEN)
            reaction.on_fulfilled = on_fulfilled;
        if (call->other != NULL)
            reaction.on_rejected = on_rejected;
    }
    Py_DECREF((PyObject *)call);
    UNLOCKED(handle = vow.then_with(handle, &reaction));
    return gate_result(promise_new(handle));
}

/* _wake(waiter, executor): has `waiter.wake()` called, once or twice, when the promise settles, or
 * never will there. The reaction, owned: cancelling it ends that. */
static PyObject *method_wake(PyObject *self, PyObject *arguments) {
    PyObject *waiter;
    unsigned long long executor;
    if (!PyArg_ParseTuple(arguments, "OK", &waiter, &executor))
        return NULL;
    vow_promise *handle = promise_hold((promise_object *)self);
    if (handle == NULL)
        return NULL;
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = wake,
                             .on_rejected = wake,
                             .context = keep_object(waiter),
                             .destroy = wake_when_gone,
                             .executor = (vow_executor *)(uintptr_t)executor};
    UNLOCKED(handle = vow.then_with(handle, &reaction));
    return PyLong_FromVoidPtr(handle);
}

/* why_not(reaction): why the reaction of somebody who was woken could not wait for its promise. */
PyObject *promise_why_not(PyObject *module, PyObject *number) {
    vow_value value;
    vow_promise *reaction = PyLong_AsVoidPtr(number);
    if (reaction == NULL)
        return PyErr_Occurred() ? NULL : new_none();
    promise_cancel(reaction);
    if (vow.promise_peek(reaction, &value) && value.kind == VOW_ERROR &&
        vow.error_code(value) != VOW_ECANCELLED)
        return error_from(value);
    return PyObject_CallFunction(hooks.make_error, "sis", "vow", VOW_ESHUTDOWN,
                                 "the loop that was to tell that the promise is settled is closed");
}

/* share(): shows the collector what a read exception holds. Its traceback has the frames that it
 * passed, these have promises, and those would hold the exception, through the library, where the
 * collector cannot see it: each read promise gives its outcome to Python, and before a full
 * collection those that share one with it do. */
PyObject *promise_share(PyObject *module, PyObject *nothing) {
    if (!errors_delivered)
        return new_none();
    PyObject *list = promise_list(module, nothing);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(list); i++) {
        promise_object *one = (promise_object *)PyList_GetItem(list, i);
        if (one->watched && promise_take_outcome(one) < 0)
            PyErr_Clear();
    }
    errors_delivered = false;
    Py_XDECREF(list);
    return list == NULL ? NULL : new_none();
}

/* ------------------------------------------------------------ The type */

static PyMethodDef promise_methods[] = {
    {"_of", promise_of, METH_O | METH_CLASS, NULL},
    {"_hold", method_hold, METH_NOARGS, NULL},
    {"_hold_for_good", method_hold_for_good, METH_NOARGS, NULL},
    {"_reader", method_reader, METH_O, NULL},
    {"_read_by_others", method_read_by_others, METH_O, NULL},
    {"_settled", method_settled, METH_NOARGS, NULL},
    {"_read", method_read, METH_NOARGS, NULL},
    {"_state", method_state, METH_NOARGS, NULL},
    {"_give_up", method_give_up, METH_O, NULL},
    {"_link", method_link, METH_VARARGS, NULL},
    {"_wake", method_wake, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef promise_members[] = {
    {"_value", T_OBJECT, offsetof(promise_object, value), READONLY, NULL},
    {"_error", T_OBJECT, offsetof(promise_object, error), READONLY, NULL},
    {"_callbacks", T_OBJECT, offsetof(promise_object, callbacks), 0, NULL},
    {"_watched", T_BOOL, offsetof(promise_object, watched), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef promise_getters[] = {
    {"_ref", get_ref, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot promise_slots[] = {
    {Py_tp_dealloc, promise_dealloc}, {Py_tp_traverse, promise_traverse},
    {Py_tp_clear, promise_clear},     {Py_tp_methods, promise_methods},
    {Py_tp_members, promise_members}, {Py_tp_getset, promise_getters},
    {Py_am_await, promise_await},     {0, NULL},
};
static PyType_Spec promise_spec = {"vow._core.Promise", sizeof(promise_object), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                   promise_slots};

int promise_init(PyObject *module) {
    promise_type = add_type(module, &promise_spec, promise_type);
    return promise_type == NULL ? -1 : 0;
}
