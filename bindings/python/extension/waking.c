/* Waking a task of asyncio that awaits a promise.
 *
 * A bell is what the library has of a waiter. It is rung where the promise is settled: on the
 * waiter's own thread, with nothing queued there, the future is fulfilled at once, as asyncio does;
 * else the ringing goes through the library's loop, without Python on a foreign thread, and after
 * what was queued there before.
 *
 * Handlers that were registered before a task awaits run before it goes on, and tasks go on in
 * their order. The library hands handlers to the loop before it calls what is inline. So where the
 * first reader is a task, all bells of tasks are inline, and ring through the loop if there are
 * handlers; else all stand on the loop from the beginning. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "core.h"

typedef struct {
    reader_object reader;
    PyObject *loop, *future;
    struct bell *bell; /* as long as the library has it */
    bool is_woken;
} waiter_object;

/* `users` counts the reactions that have it. The last one lets go of the waiter. */
struct bell {
    atomic_int users;
    atomic_bool is_left; /* nobody waits: what is cancelled then rings for nobody */
    unsigned long thread;
    int descriptor; /* only looked at, on the waiter's thread */
    vow_executor *executor;
    PyObject *waiter;
};

static PyTypeObject *waiter_type;

/* ------------------------------------------------------------ Under the interpreter's lock */

/* What a method without arguments answers: 1, 0, or -1 with an exception. */
static int ask(PyObject *object, const char *method) {
    PyObject *answer = PyObject_CallMethod(object, method, NULL);
    int is_so = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return is_so;
}

/* Forgets the exception that is set if a method answers yes, which explains it. */
static PyObject *unless(PyObject *object, const char *method) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    int is_so = ask(object, method);
    if (is_so <= 0) {
        PyErr_Clear();
        PyErr_Restore(type, error, traceback);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return new_none();
}

static PyObject *fulfil(waiter_object *self) {
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("set_result")) == NULL)
        return NULL;
    PyObject *result = PyObject_CallMethodObjArgs(self->future, name, Py_None, NULL);
    /* The task may have been cancelled before. */
    return result != NULL ? result : unless(self->future, "done");
}

/* From another loop or thread it is called again on its own. */
static PyObject *waiter_wake(PyObject *object, PyObject *nothing) {
    waiter_object *self = (waiter_object *)object;
    if (self->future == NULL)
        return new_none();
    PyObject *running = running_loop();
    if (running == NULL)
        return NULL;
    bool is_here = running == self->loop;
    Py_DECREF(running);
    self->is_woken = true;
    if (is_here)
        return fulfil(self);
    int is_over = ask(self->loop, "is_closed");
    if (is_over == 0)
        is_over = ask(self->future, "done");
    if (is_over != 0)
        return is_over < 0 ? NULL : new_none();
    PyObject *again = PyObject_GetAttrString(object, "wake");
    if (again == NULL)
        return NULL;
    PyObject *handle = PyObject_CallMethod(self->loop, "call_soon_threadsafe", "O", again);
    Py_DECREF(again);
    return handle != NULL ? handle : unless(self->loop, "is_closed");
}

/* Ctrl-C may come in the middle: it is kept for the program, and the task is woken all the same. */
static void wake_or_say(PyObject *waiter) {
    PyObject *result = waiter_wake(waiter, NULL);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        result = waiter_wake(waiter, NULL);
        PyErr_SetInterrupt();
    }
    if (result == NULL)
        PyErr_WriteUnraisable(waiter);
    Py_XDECREF(result);
}

static void wake_locked(struct bell *bell, bool is_gone) {
    PyGILState_STATE state = lock_interpreter();
    if (!((waiter_object *)bell->waiter)->is_woken && !atomic_load(&bell->is_left))
        wake_or_say(bell->waiter);
    if (is_gone) {
        ((waiter_object *)bell->waiter)->bell = NULL;
        drop_object(bell->waiter);
    }
    PyGILState_Release(state);
}

/* ------------------------------------------------------------ As the library calls it */

static vow_value ring_here(vow_value input, void *context) {
    if (gate_enter())
        GATE_THROUGH(wake_locked(context, false));
    return vow_none();
}

/* Also where a handler will never run: there was no memory for it, or its executor is gone. */
static void leave_bell(void *context) {
    struct bell *bell = context;
    if (atomic_fetch_sub(&bell->users, 1) > 1 || !gate_enter())
        return;
    GATE_THROUGH(wake_locked(bell, true));
    vow.executor_release(bell->executor);
    free(bell);
}

static vow_promise *hang(struct bell *bell, vow_promise *promise, vow_handler handler,
                         vow_executor *executor) {
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = handler,
                             .on_rejected = handler,
                             .context = bell,
                             .destroy = leave_bell,
                             .executor = executor};
    return vow.then_with(promise, &reaction);
}

/* Whether the loop has something to run. */
static bool is_queued(int descriptor) {
    struct pollfd look = {.fd = descriptor, .events = POLLIN};
    return poll(&look, 1, 0) != 0;
}

static vow_value ignore(vow_value input, void *nothing) {
    return vow_none();
}

/* A loop that is gone refuses it, and leaving the bell rings all the same: that is no news. */
static void ring_on_loop(struct bell *bell) {
    atomic_fetch_add(&bell->users, 1);
    vow_promise *rung = hang(bell, vow.promise_with(vow_none()), ring_here, bell->executor);
    vow_reaction unheard = {
        .size = sizeof unheard, .on_rejected = ignore, .executor = vow.executor_inline()};
    vow.promise_release(vow.then_with(rung, &unheard));
}

/* How often the library's loop runs on this thread: what is handed to it then comes in its turn. */
static _Thread_local long runs;

PyObject *run_loop(PyObject *module, PyObject *number) {
    vow_loop *loop = PyLong_AsVoidPtr(number);
    if (loop == NULL && PyErr_Occurred())
        return NULL;
    int ran;
    runs++;
    UNLOCKED(ran = vow.loop_run_once(loop, 0));
    runs--;
    return gate_result(PyLong_FromLong(ran));
}

static bool has_handlers(struct bell *bell) {
    struct readers *readers = ((waiter_object *)bell->waiter)->reader.of;
    return readers != NULL && atomic_load(&readers->has_handlers);
}

static vow_value ring(vow_value input, void *context) {
    struct bell *bell = context;
    if (atomic_load(&bell->is_left))
        return vow_none();
    if (bell->thread == known_thread() && runs == 0 && !has_handlers(bell) &&
        !is_queued(bell->descriptor))
        return ring_here(input, context);
    ring_on_loop(bell);
    return vow_none();
}

/* ------------------------------------------------------------ The waiter */

static PyObject *blocking_future(PyObject *loop) {
    static PyObject *create, *blocking;
    if ((create == NULL && (create = PyUnicode_InternFromString("create_future")) == NULL) ||
        (blocking == NULL &&
         (blocking = PyUnicode_InternFromString("_asyncio_future_blocking")) == NULL))
        return NULL;
    PyObject *future = PyObject_CallMethodObjArgs(loop, create, NULL);
    if (future != NULL && PyObject_SetAttr(future, blocking, Py_True) < 0)
        Py_CLEAR(future);
    return future;
}

/* A waiter of the running task, and the future that it is to yield: asyncio's protocol. */
PyObject *waiter_new(const struct place *place, PyObject **future) {
    *future = blocking_future(place->loop);
    waiter_object *self = *future ? PyObject_GC_New(waiter_object, waiter_type) : NULL;
    if (self == NULL) {
        Py_CLEAR(*future);
        return NULL;
    }
    self->reader.of = NULL;
    self->loop = place->loop;
    Py_INCREF(self->loop);
    self->future = *future;
    Py_INCREF(self->future);
    self->bell = NULL;
    self->is_woken = false;
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

bool waiter_is_woken(PyObject *waiter) {
    return ((waiter_object *)waiter)->is_woken;
}

void waiter_leave(PyObject *waiter) {
    struct bell *bell = ((waiter_object *)waiter)->bell;
    if (bell != NULL)
        atomic_store(&bell->is_left, true);
}

/* Has it woken when the promise is settled, or that will not be told. The reaction is owned. */
int waiter_wait(PyObject *waiter, promise_object *promise, const struct place *place,
                vow_promise **reaction) {
    bool is_rung;
    struct bell *bell = malloc(sizeof *bell);
    if (bell == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    vow_promise *handle = promise_hold_awaited(promise, (reader_object *)waiter, &is_rung);
    if (handle == NULL) {
        free(bell);
        return -1;
    }
    vow_executor *executor = place->executor;
    atomic_init(&bell->users, 1);
    atomic_init(&bell->is_left, false);
    bell->thread = this_thread();
    bell->descriptor = place->descriptor;
    bell->executor = vow.executor_retain(executor);
    bell->waiter = keep_object(waiter);
    ((waiter_object *)waiter)->bell = bell;
    /* Of what is called by this, all is this file's: the interpreter's lock is kept. */
    *reaction = is_rung ? hang(bell, handle, ring, vow.executor_inline())
                        : hang(bell, handle, ring_here, executor);
    return 0;
}

static int waiter_traverse(PyObject *object, visitproc visit, void *arg) {
    waiter_object *self = (waiter_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->loop);
    Py_VISIT(self->future);
    return 0;
}

static int waiter_clear(PyObject *object) {
    waiter_object *self = (waiter_object *)object;
    Py_CLEAR(self->loop);
    Py_CLEAR(self->future);
    return 0;
}

static void waiter_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    waiter_clear(object);
    reader_end((reader_object *)object);
    free_object(object);
}

static PyMethodDef waiter_methods[] = {
    {"wake", waiter_wake, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot waiter_slots[] = {
    {Py_tp_dealloc, waiter_dealloc},
    {Py_tp_traverse, waiter_traverse},
    {Py_tp_clear, waiter_clear},
    {Py_tp_methods, waiter_methods},
    {Py_tp_doc, "A task of asyncio that awaits a promise."},
    {0, NULL},
};
static PyType_Spec waiter_spec = {"vow._core.Waiter", sizeof(waiter_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, waiter_slots};

int waking_init(PyObject *module) {
    waiter_type = add_subtype(module, &waiter_spec, reader_type, waiter_type);
    return waiter_type == NULL ? -1 : 0;
}
