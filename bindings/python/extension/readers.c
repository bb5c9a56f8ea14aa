/* Who reads a promise: counted, for as long as the reader lives. And the readers that the library
 * holds: the functions of a link. */
#include <stdlib.h>

#include "core.h"

PyTypeObject *reader_type, *call_type;

struct readers *readers_hold(struct readers *readers) {
    readers->references++;
    return readers;
}

void readers_drop(struct readers *readers) {
    if (readers != NULL && --readers->references == 0)
        free(readers);
}

/* Counts one more. A reader is of one promise. -1: no memory. */
int reader_reads(reader_object *reader, struct readers **readers) {
    if (*readers == NULL) {
        *readers = calloc(1, sizeof **readers);
        if (*readers == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        (*readers)->references = 1;
    }
    (*readers)->live++;
    if (reader != NULL && reader->of == NULL)
        reader->of = readers_hold(*readers);
    return 0;
}

void free_object(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF((PyObject *)type);
}

void reader_end(reader_object *self) {
    if (self->of != NULL) {
        self->of->live--;
        readers_drop(self->of);
        self->of = NULL;
    }
}

static void reader_dealloc(PyObject *self) {
    reader_end((reader_object *)self);
    free_object(self);
}

static PyType_Slot reader_slots[] = {
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_doc, "Somebody who reads a promise, until this object goes."},
    {0, NULL},
};
static PyType_Spec reader_spec = {"vow._core.Reader", sizeof(reader_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, reader_slots};

/* ------------------------------------------------------------ Calls */

static PyObject *current_context(void) {
    if (contexts.copy_current != NULL)
        return contexts.copy_current();
    return PyObject_CallFunctionObjArgs(hooks.copy_context, NULL);
}

static PyObject *given(PyObject *item) {
    if (item == NULL || item == Py_None)
        return NULL;
    Py_INCREF(item);
    return item;
}

static int call_fill(call_object *call, PyObject *function, PyObject *other, PyObject *only) {
    call->function = given(function);
    call->other = given(other);
    call->only = given(only);
    call->context = current_context();
    return call->context == NULL ? -1 : 0;
}

call_object *call_new(PyObject *function, PyObject *other, PyObject *only) {
    call_object *call = PyObject_New(call_object, call_type);
    if (call == NULL)
        return NULL;
    call->reader.of = NULL;
    call->context = NULL;
    if (call_fill(call, function, other, only) < 0) {
        Py_DECREF((PyObject *)call);
        return NULL;
    }
    return call;
}

static int call_construct(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"function", "other", "only", NULL};
    PyObject *function, *other = NULL, *only = NULL;
    call_object *call = (call_object *)self;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OO", names, &function, &other, &only))
        return -1;
    if (call->context != NULL) {
        PyErr_SetString(PyExc_TypeError, "a Call is made once");
        return -1;
    }
    return call_fill(call, function, other, only);
}

/* Not one of the collector's: the library holds it, where the collector sees nothing. */
static void call_dealloc(PyObject *self) {
    call_object *call = (call_object *)self;
    reader_end(&call->reader);
    Py_CLEAR(call->function);
    Py_CLEAR(call->other);
    Py_CLEAR(call->only);
    Py_CLEAR(call->context);
    free_object(self);
}

static PyMemberDef call_members[] = {
    {"function", T_OBJECT, offsetof(call_object, function), READONLY, NULL},
    {"other", T_OBJECT, offsetof(call_object, other), READONLY, NULL},
    {"only", T_OBJECT, offsetof(call_object, only), READONLY, NULL},
    {"context", T_OBJECT, offsetof(call_object, context), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot call_slots[] = {
    {Py_tp_dealloc, call_dealloc},
    {Py_tp_init, call_construct},
    {Py_tp_members, call_members},
    {Py_tp_doc, "Functions that the library is to call, with the context of their registration."},
    {0, NULL},
};
static PyType_Spec call_spec = {"vow._core.Call", sizeof(call_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, call_slots};

int readers_init(PyObject *module) {
    reader_type = add_type(module, &reader_spec, reader_type);
    if (reader_type == NULL)
        return -1;
    call_type = add_subtype(module, &call_spec, reader_type, call_type);
    return call_type == NULL ? -1 : 0;
}
