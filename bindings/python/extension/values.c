/* Values of the library and Python objects, made from each other: the kinds that are frequent. What
 * else there is, Python code does (_values.py). */
#include <pthread.h>

#include "core.h"

const vow_class object_class = {sizeof(vow_class), "Python object", destroy_object, NULL};

/* ------------------------------------------------------------ Objects that the library holds */

static long kept; /* under the interpreter's lock */

void (*keep_thread_state)(void);

/* A thread of C that comes for the first time goes through a callback of cffi's, which keeps its
 * state for as long as the thread lives. Else each call would make one and throw it away: dear, and
 * thread-local data of Python would not outlast a handler. */
PyGILState_STATE lock_interpreter(void) {
    if (PyGILState_GetThisThreadState() == NULL)
        keep_thread_state();
    return PyGILState_Ensure();
}

void *keep_object(PyObject *item) {
    kept++;
    Py_INCREF(item);
    return item;
}

void drop_object(void *item) {
    kept--;
    Py_DECREF((PyObject *)item);
}

long objects_kept(void) {
    return kept;
}

static void destroy_locked(void *item) {
    PyGILState_STATE state = lock_interpreter();
    drop_object(item);
    PyGILState_Release(state);
}

void destroy_object(void *item) {
    if (gate_enter())
        GATE_THROUGH(destroy_locked(item));
}

/* ------------------------------------------------------------ From Python */

int from_triple(PyObject *triple, vow_value *value) {
    if (triple == NULL)
        return -1;
    *value = vow_none();
    if (!PyTuple_Check(triple) || PyTuple_Size(triple) != 3) {
        PyErr_SetString(PyExc_SystemError, "vow: a hook returned no value");
        Py_DECREF(triple);
        return -1;
    }
    value->kind = (vow_kind)PyLong_AsUnsignedLong(PyTuple_GetItem(triple, 0));
    value->as.integer = PyLong_AsLongLong(PyTuple_GetItem(triple, 2));
    Py_DECREF(triple);
    return PyErr_Occurred() ? -1 : 0;
}

static vow_value from_object(PyObject *item) {
    return vow.object(keep_object(item), &object_class);
}

static vow_value from_int(PyObject *item) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(item, &overflow);
    return overflow ? from_object(item) : vow_int(number);
}

static int from_text(PyObject *item, vow_value *value) {
    char *bytes;
    Py_ssize_t length;
    PyObject *utf8 = PyUnicode_AsUTF8String(item);
    if (utf8 == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return -1;
        PyErr_Clear(); /* lone surrogates */
        *value = from_object(item);
        return 0;
    }
    if (PyBytes_AsStringAndSize(utf8, &bytes, &length) == 0)
        *value = vow.string(bytes, (size_t)length);
    Py_DECREF(utf8);
    return PyErr_Occurred() ? -1 : 0;
}

static bool is_a(PyTypeObject *type, PyObject *cls) {
    return PyType_IsSubtype(type, (PyTypeObject *)cls) != 0;
}

int to_value(PyObject *item, PyObject *context, vow_value *value) {
    PyTypeObject *type = Py_TYPE(item);
    if (item == Py_None)
        *value = vow_none();
    else if (type == &PyLong_Type)
        *value = from_int(item);
    else if (type == &PyUnicode_Type)
        return from_text(item, value);
    else if (item == Py_True || item == Py_False)
        *value = vow_bool(item == Py_True);
    else if (type == &PyFloat_Type)
        *value = vow_double(PyFloat_AsDouble(item));
    else if (type == &PyList_Type || type == &PyDict_Type || type == &PyTuple_Type)
        *value = from_object(item);
    else if ((PyObject *)type == hooks.Promise) {
        vow_promise *promise = promise_give((promise_object *)item);
        if (promise == NULL)
            return -1;
        *value = vow.from_promise(promise);
    } else if ((PyObject *)type == hooks.Pointer || (PyObject *)type == hooks.ForeignObject)
        return from_triple(PyObject_CallFunctionObjArgs(hooks.to_plain, item, NULL), value);
    else if ((PyObject *)type == hooks.Coroutine || is_a(type, hooks.AsyncioFuture) ||
             is_a(type, hooks.ConcurrentFuture))
        return from_triple(PyObject_CallFunctionObjArgs(hooks.follow_plain, item,
                                                        context ? context : Py_None, NULL),
                           value);
    else
        *value = from_object(item);
    return 0;
}

/* ------------------------------------------------------------ To Python */

static PyObject *by_python(PyObject *hook, vow_value value) {
    return PyObject_CallFunction(hook, "IL", (unsigned)value.kind, (long long)value.as.integer);
}

static PyObject *to_text(vow_value value) {
    size_t length;
    const char *bytes = vow.string_bytes(value, &length);
    PyObject *text = PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, NULL);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        text = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length);
    }
    return text;
}

/* A list in a list is Python code's, which needs no stack for it. */
static PyObject *to_list(vow_value value) {
    size_t count = vow.list_count(value);
    for (size_t i = 0; i < count; i++)
        if (vow.list_at(value, i).kind == VOW_LIST)
            return by_python(hooks.from_plain, value);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = from_value(vow.list_at(value, i));
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

PyObject *from_value(vow_value value) {
    switch (value.kind) {
    case VOW_NONE:
        return new_none();
    case VOW_INT:
        return PyLong_FromLongLong(value.as.integer);
    case VOW_BOOL:
        return PyBool_FromLong(value.as.integer & 255);
    case VOW_DOUBLE:
        return PyFloat_FromDouble(value.as.real);
    case VOW_STRING:
        return to_text(value);
    case VOW_LIST:
        return to_list(value);
    case VOW_OBJECT: {
        PyObject *item = vow.object_pointer(value, &object_class);
        if (item != NULL) {
            Py_INCREF(item);
            return item;
        }
        break;
    }
    }
    return by_python(hooks.from_plain, value);
}
