/* Where asyncio runs: the loop that was entered last, which mostly is the one. */
#include "core.h"

static struct {
    PyObject *loop;   /* a weak reference */
    PyObject *holder; /* what asyncio had for it in this thread's dictionary, if anything */
    PyObject *said;
    unsigned long thread;
} entered;

static _Thread_local unsigned long number;

unsigned long known_thread(void) {
    return number;
}

unsigned long this_thread(void) {
    static unsigned long last; /* under the interpreter's lock */
    if (number == 0)
        number = ++last;
    return number;
}

/* What asyncio up to 3.11 has in the thread's dictionary for the loop that runs: another object
 * each time that a loop begins or ends to run. Later versions have none. */
static PyObject *holder_here(void) {
    static PyObject *name;
    PyObject *all = PyThreadState_GetDict();
    if (all == NULL)
        return NULL;
    if (name == NULL)
        name = PyUnicode_InternFromString("__asyncio_running_event_loop__");
    return name == NULL ? NULL : PyDict_GetItem(all, name);
}

/* The asyncio loop that runs here, owned, or None. Asking asyncio takes a system call there. */
PyObject *running_loop(void) {
    if (entered.holder != NULL && entered.thread == this_thread() &&
        holder_here() == entered.holder) {
        PyObject *loop = PyWeakref_GetObject(entered.loop);
        Py_INCREF(loop);
        return loop;
    }
    return PyObject_CallFunctionObjArgs(hooks.get_running_loop, NULL);
}

/* entered(loop, place): what the package has for the loop that runs here, or that there is none. */
PyObject *entered_asyncio(PyObject *module, PyObject *arguments) {
    PyObject *loop, *said = NULL, *now = NULL;
    if (!PyArg_ParseTuple(arguments, "O|O", &loop, &said))
        return NULL;
    if (loop != Py_None && (now = PyWeakref_NewRef(loop, NULL)) == NULL)
        return NULL;
    PyObject *before = entered.loop, *said_before = entered.said, *held = entered.holder;
    Py_XINCREF(said);
    entered.holder = now == NULL ? NULL : holder_here();
    Py_XINCREF(entered.holder);
    entered.loop = now;
    entered.said = said;
    entered.thread = this_thread();
    Py_XDECREF(before);
    Py_XDECREF(said_before);
    Py_XDECREF(held);
    return new_none();
}

static bool is_entered(PyObject *loop) {
    return entered.loop != NULL && entered.said != NULL && entered.thread == this_thread() &&
           PyWeakref_GetObject(entered.loop) == loop;
}

int enter_asyncio(void) {
    PyObject *loop = running_loop();
    if (loop == NULL)
        return -1;
    bool is_known = loop == Py_None || is_entered(loop);
    Py_DECREF(loop);
    if (is_known)
        return 0;
    PyObject *said = PyObject_CallFunctionObjArgs(hooks.enter, NULL);
    Py_XDECREF(said);
    return said == NULL ? -1 : 0;
}

static int read_said(PyObject *said, struct place *place) {
    unsigned long long executor;
    PyObject *owner;
    if (!PyTuple_Check(said)) {
        PyErr_SetString(PyExc_SystemError, "vow: a loop without a place");
        return -1;
    }
    if (!PyArg_ParseTuple(said, "OOKi", &place->waiting, &owner, &executor, &place->descriptor))
        return -1;
    place->executor = (vow_executor *)(uintptr_t)executor;
    return 1;
}

int place_here(struct place *place) {
    PyObject *loop = running_loop(), *said;
    if (loop == NULL)
        return -1;
    if (loop == Py_None) {
        Py_DECREF(loop);
        return 0;
    }
    if (is_entered(loop)) {
        said = entered.said;
        Py_INCREF(said);
    } else
        said = PyObject_CallFunctionObjArgs(hooks.enter, NULL);
    place->loop = loop;
    place->said = said;
    int status = said == NULL ? -1 : read_said(said, place);
    if (status < 0) {
        Py_DECREF(loop);
        Py_XDECREF(said);
    }
    return status;
}

void place_leave(struct place *place) {
    Py_DECREF(place->loop);
    Py_DECREF(place->said);
}
