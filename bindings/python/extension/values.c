/* Values of the library and Python objects, made from each other. None, and exact bool, int (of 64
 * bits), float and str become the library's own kinds, so that C code can read them. All else,
 * lists included, stays the same Python object, held by the library. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

const vow_class object_class = {sizeof(vow_class), "Python object", destroy_object, NULL};
/* A pair of an exception, on its way through the library, and the traceback that it had. */
static const vow_class failure_class = {sizeof(vow_class), "Python exception", destroy_object,
                                        NULL};
bool errors_delivered;

/* ------------------------------------------------------------ Threads of C */

/* A thread of C that comes for the first time keeps Python's state for as long as it lives. Else
 * each call would make one and throw it away: dear, and thread-local data of Python would not
 * outlast a handler. A state whose thread has ended is freed by the next thread that comes. */
struct thread_state {
    PyThreadState *state;
    struct thread_state *next;
};
static _Atomic(struct thread_state *) ended_states;
static pthread_key_t state_key;
static pthread_once_t state_once = PTHREAD_ONCE_INIT;

static void end_state(void *item) {
    struct thread_state *ended = item;
    ended->next = atomic_load(&ended_states);
    while (!atomic_compare_exchange_weak(&ended_states, &ended->next, ended)) {
    }
}

static void make_state_key(void) {
    pthread_key_create(&state_key, end_state);
}

static void free_ended_states(void) {
    struct thread_state *ended = atomic_exchange(&ended_states, NULL);
    while (ended != NULL) {
        struct thread_state *next = ended->next;
        PyThreadState_Clear(ended->state);
        PyThreadState_Delete(ended->state);
        free(ended);
        ended = next;
    }
}

/* In a forked child: the interpreter has freed the states of the parent's other threads. */
void forget_ended_states(void) {
    atomic_store(&ended_states, NULL);
}

PyGILState_STATE lock_interpreter(void) {
    if (PyGILState_GetThisThreadState() == NULL) {
        struct thread_state *kept_state = malloc(sizeof *kept_state);
        pthread_once(&state_once, make_state_key);
        if (kept_state != NULL) {
            PyGILState_Ensure();
            kept_state->state = PyThreadState_Get();
            free_ended_states();
            if (pthread_setspecific(state_key, kept_state) == 0) {
                PyEval_SaveThread(); /* which leaves the state counted, and the thread without the
                                        lock */
            } else {
                free(kept_state);
                PyGILState_Release(PyGILState_UNLOCKED);
            }
        }
    }
    return PyGILState_Ensure();
}

/* ------------------------------------------------------------ Objects that the library holds */

static long kept; /* under the interpreter's lock */

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

/* The same from Python's side of a class that the package has: 1, 0 with a value, -1. */
static int from_follower(PyObject *item, PyObject *context, vow_value *value) {
    PyObject *promise =
        PyObject_CallFunctionObjArgs(hooks.follow, item, context ? context : Py_None, NULL);
    int status = promise == NULL ? -1 : to_value(promise, NULL, value);
    Py_XDECREF(promise);
    return status;
}

static int from_foreign(PyObject *item, vow_value *value) {
    PyObject *bits = PyObject_GetAttrString(item, "_bits");
    if (bits == NULL)
        return -1;
    *value =
        vow.value_retain((vow_value){.kind = VOW_OBJECT, .as.pointer = PyLong_AsVoidPtr(bits)});
    Py_DECREF(bits);
    return PyErr_Occurred() ? -1 : 0;
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
    } else if ((PyObject *)type == hooks.Pointer)
        *value = vow_pointer((void *)(uintptr_t)PyLong_AsUnsignedLongLongMask(item));
    else if ((PyObject *)type == hooks.ForeignObject)
        return from_foreign(item, value);
    else if ((PyObject *)type == hooks.Coroutine || is_a(type, hooks.AsyncioFuture) ||
             is_a(type, hooks.ConcurrentFuture))
        return from_follower(item, context, value);
    else
        *value = from_object(item);
    return 0;
}

/* An owned list (VOW_LIST) of Python objects. */
int to_list_value(PyObject *items, vow_value *value) {
    PyObject *list = PySequence_List(items);
    if (list == NULL)
        return -1;
    size_t count = (size_t)PyList_Size(list), made = 0;
    vow_value *values = malloc((count + 1) * sizeof *values);
    if (values == NULL)
        PyErr_NoMemory();
    while (values != NULL && made < count &&
           to_value(PyList_GetItem(list, (Py_ssize_t)made), NULL, &values[made]) == 0)
        made++;
    bool is_whole = values != NULL && made == count;
    if (is_whole)
        *value = vow.list(values, count);
    else
        while (made > 0)
            vow.value_release(values[--made]);
    free(values);
    Py_DECREF(list);
    return is_whole ? 0 : -1;
}

/* ------------------------------------------------------------ Exceptions */

/* The bytes of a text, for C: without a NUL inside. */
static PyObject *bytes_of(PyObject *text) {
    PyObject *bytes = text == NULL ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
    char *at = bytes == NULL ? NULL : PyBytes_AsString(bytes);
    for (Py_ssize_t i = 0; at != NULL && i < PyBytes_Size(bytes); i++)
        if (at[i] == 0)
            at[i] = '?';
    return bytes;
}

/* The class and what it says. A broken __str__ must not hide the error itself. */
static PyObject *message_of(PyObject *error) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(error), "__name__");
    PyObject *text = name == NULL ? NULL : PyObject_Str(error), *bytes;
    if (text == NULL)
        PyErr_Clear();
    if (text != NULL && PyUnicode_GetLength(text) > 0) {
        static PyObject *between;
        if (between == NULL)
            between = PyUnicode_InternFromString(": ");
        PyObject *head = between ? PyUnicode_Concat(name, between) : NULL;
        PyObject *whole = head ? PyUnicode_Concat(head, text) : NULL;
        bytes = bytes_of(whole);
        Py_XDECREF(head);
        Py_XDECREF(whole);
    } else
        bytes = bytes_of(name);
    Py_XDECREF(name);
    Py_XDECREF(text);
    return bytes;
}

static PyObject *attribute(PyObject *error, const char *name) {
    PyObject *text = PyObject_GetAttrString(error, name);
    PyObject *bytes = text != NULL && PyUnicode_Check(text) ? bytes_of(text) : NULL;
    Py_XDECREF(text);
    return bytes;
}

static bool is_asyncs_cancellation(PyObject *error) {
    return PyErr_GivenExceptionMatches(error, hooks.cancellations) != 0;
}

/* An owned error that carries a Python exception. */
vow_value error_to_value(PyObject *error) {
    PyObject *domain = NULL, *message = NULL, *traceback = PyException_GetTraceback(error);
    PyObject *failure = PyTuple_Pack(2, error, traceback ? traceback : Py_None);
    vow_value payload = vow_none();
    int64_t code = 0;
    Py_XDECREF(traceback);
    if (failure != NULL)
        payload = vow.object(keep_object(failure), &failure_class);
    Py_XDECREF(failure);
    const char *name = "python";
    if (PyErr_GivenExceptionMatches(error, hooks.Error)) {
        PyObject *number = PyObject_GetAttrString(error, "code");
        domain = attribute(error, "domain");
        message = attribute(error, "message");
        code = number == NULL ? 0 : PyLong_AsLongLong(number);
        Py_XDECREF(number);
        if (domain != NULL)
            name = PyBytes_AsString(domain);
    } else {
        message = message_of(error);
        if (is_asyncs_cancellation(error)) {
            name = "vow";
            code = VOW_ECANCELLED;
        }
    }
    PyErr_Clear(); /* what could not be said is left out */
    vow_value value = vow.error_wrap(name, code, message ? PyBytes_AsString(message) : "", payload);
    Py_XDECREF(domain);
    Py_XDECREF(message);
    return value;
}

/* The very exception that was raised. That of a task's cancellation would tell who reads the
 * promise to end itself: another one takes its place. */
static PyObject *thrown(PyObject *failure) {
    PyObject *error = PyTuple_GetItem(failure, 0);
    if (is_asyncs_cancellation(error))
        return PyObject_CallFunctionObjArgs(hooks.cancelled, error, NULL);
    PyException_SetTraceback(error, PyTuple_GetItem(failure, 1));
    Py_INCREF(error);
    return error;
}

static PyObject *text_from(const char *utf8) {
    return PyUnicode_DecodeUTF8(utf8 ? utf8 : "", utf8 ? (Py_ssize_t)strlen(utf8) : 0, "replace");
}

static PyObject *made(vow_value value) {
    PyObject *payload = from_value(vow.error_payload(value));
    if (payload == NULL)
        return NULL;
    return PyObject_CallFunction(hooks.make_error, "NLNN", text_from(vow.error_domain(value)),
                                 (long long)vow.error_code(value),
                                 text_from(vow.error_message(value)), payload);
}

/* A class may have no room for it. */
static void mark(PyObject *error, const char *name, int64_t number) {
    PyObject *item = PyLong_FromLongLong(number);
    if (item == NULL || PyObject_SetAttrString(error, name, item) < 0)
        PyErr_Clear();
    Py_XDECREF(item);
}

/* The exception of a borrowed error. */
PyObject *error_from(vow_value value) {
    vow_value payload = vow.error_payload(value);
    PyObject *failure = NULL;
    errors_delivered = true;
    if (payload.kind == VOW_OBJECT)
        failure = vow.object_pointer(payload, &failure_class);
    PyObject *error = failure != NULL ? thrown(failure) : made(value);
    if (error == NULL)
        return NULL;
    int64_t index = vow.error_index(value), attempts = vow.error_attempts(value);
    if (index >= 0)
        mark(error, "_vow_index", index);
    if (attempts > 0)
        mark(error, "_vow_attempts", attempts);
    return error;
}

/* ------------------------------------------------------------ To Python */

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

/* A list that is to be filled; the one around it holds it. */
struct filling {
    vow_value source;
    PyObject *target;
};

struct fillings {
    struct filling *all;
    size_t count, room;
};

static bool push(struct fillings *left, vow_value source, PyObject *target) {
    if (left->count == left->room) {
        size_t room = 2 * left->room + 8;
        struct filling *all = realloc(left->all, room * sizeof *all);
        if (all == NULL) {
            PyErr_NoMemory();
            return false;
        }
        left->all = all;
        left->room = room;
    }
    left->all[left->count++] = (struct filling){source, target};
    return true;
}

/* However deep lists are nested, it takes no stack. */
static PyObject *to_list(vow_value value) {
    struct fillings left = {NULL, 0, 0};
    PyObject *whole = PyList_New(0);
    bool is_good = whole != NULL && push(&left, value, whole);
    while (is_good && left.count > 0) {
        struct filling one = left.all[--left.count];
        size_t count = vow.list_count(one.source);
        for (size_t i = 0; is_good && i < count; i++) {
            vow_value next = vow.list_at(one.source, i);
            PyObject *item = next.kind == VOW_LIST ? PyList_New(0) : from_value(next);
            is_good = item != NULL && PyList_Append(one.target, item) == 0 &&
                      (next.kind != VOW_LIST || push(&left, next, item));
            Py_XDECREF(item);
        }
    }
    free(left.all);
    if (!is_good)
        Py_CLEAR(whole);
    return whole;
}

static PyObject *to_object(vow_value value) {
    PyObject *item = vow.object_pointer(value, &object_class);
    if (item == NULL) {
        PyObject *failure = vow.object_pointer(value, &failure_class);
        item = failure == NULL ? NULL : PyTuple_GetItem(failure, 0);
    }
    if (item == NULL)
        return PyObject_CallFunction(hooks.ForeignObject, "N",
                                     PyLong_FromVoidPtr(vow.value_retain(value).as.pointer));
    Py_INCREF(item);
    return item;
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
    case VOW_POINTER:
        return PyObject_CallFunction(hooks.Pointer, "N", PyLong_FromVoidPtr(value.as.pointer));
    case VOW_STRING:
        return to_text(value);
    case VOW_LIST:
        return to_list(value);
    case VOW_ERROR:
        return error_from(value);
    case VOW_OBJECT:
        return to_object(value);
    case VOW_PROMISE:
        return promise_new(promise_with(vow.value_retain(value)));
    }
    PyErr_Format(PyExc_SystemError, "vow: a value of unknown kind %u", (unsigned)value.kind);
    return NULL;
}

/* Of an owned value, which is released. */
PyObject *take_value(vow_value value) {
    PyObject *item = from_value(value);
    vow.value_release(value);
    return item;
}

/* ForeignObject's: release_object(bits), object_address(bits) */
PyObject *values_release_object(PyObject *module, PyObject *bits) {
    vow_value value = {.kind = VOW_OBJECT, .as.pointer = PyLong_AsVoidPtr(bits)};
    if (value.as.pointer != NULL && releasing) {
        UNLOCKED(vow.value_release(value));
    }
    return PyErr_Occurred() ? NULL : new_none();
}

PyObject *values_object_address(PyObject *module, PyObject *bits) {
    vow_value value = {.kind = VOW_OBJECT, .as.pointer = PyLong_AsVoidPtr(bits)};
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromVoidPtr(vow.object_pointer(value, NULL));
}
