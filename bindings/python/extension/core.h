/* What the files of the extension share: the library's functions, Python's that they call, and the
 * objects of the hot paths.
 *
 * Of Python only the stable ABI of 3.9 is used, so one binary is for all later versions. */
#ifndef VOW_PYTHON_CORE_H
#define VOW_PYTHON_CORE_H

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <structmember.h>

#include <vow.h>

/* A call of the library that may run foreign code, without the interpreter's lock. */
#define UNLOCKED(...)                                                                              \
    do {                                                                                           \
        Py_BEGIN_ALLOW_THREADS;                                                                    \
        __VA_ARGS__;                                                                               \
        Py_END_ALLOW_THREADS;                                                                      \
    } while (0)

/* ------------------------------------------------------------ The gate: gate.c */

bool gate_enter(void);
void gate_leave(void);
vow_value gate_refusal(void);
void gate_stay(void *nothing);
void gate_leave_with(PyObject *error);
void gate_forked(void);
PyObject *gate_close(PyObject *module, PyObject *nothing);
PyObject *gate_wait(PyObject *module, PyObject *nothing);
PyObject *gate_shut_down(PyObject *module, PyObject *number);
PyObject *gate_result(PyObject *result);

/* A call into Python by who has entered. The interpreter ends (pthread_exit) a thread that was in a
 * handler for longer than the end waits. The frames of the library must not be unwound: the thread
 * stays here, and the process ends around it. */
#define GATE_THROUGH(call)                                                                         \
    do {                                                                                           \
        pthread_cleanup_push(gate_stay, NULL);                                                     \
        call;                                                                                      \
        pthread_cleanup_pop(0);                                                                    \
        gate_leave();                                                                              \
    } while (0)

/* ------------------------------------------------------------ The library: library.c */

/* All functions of the header: looked up when the package has found the library, which VOW_LIBRARY
 * may name. */
#include "made.h"
#define LIBRARY_MEMBER(name) __typeof__(vow_##name) *name;
struct library {
    LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
};
extern struct library vow;
bool library_load(const char *path);

/* What is Python's and not in the stable ABI; NULL where an interpreter has none. */
struct contexts {
    PyObject *(*copy_current)(void);
    PyObject *(*copy)(PyObject *context);
    int (*enter)(PyObject *context);
    int (*exit)(PyObject *context);
};
extern struct contexts contexts;

/* ------------------------------------------------------------ What Python gives: hooks.c */

/* Functions and classes of the package that the extension calls. */
/* clang-format off */
#define HOOKS(HOOK) \
    HOOK(Promise) HOOK(Resolver) HOOK(PromiseRef) HOOK(ResolverRef) HOOK(Pointer) HOOK(ForeignObject) \
    HOOK(AsyncioFuture) HOOK(ConcurrentFuture) HOOK(Coroutine) HOOK(Error) HOOK(cancellations) HOOK(cancelled) \
    HOOK(make_error) HOOK(follow) HOOK(follow_handling) HOOK(is_main) HOOK(report) HOOK(tell) \
    HOOK(submit) HOOK(refusing) HOOK(refused) HOOK(to_promise) HOOK(get_running_loop) HOOK(enter) \
    HOOK(begun) HOOK(await_elsewhere) HOOK(await_thrown) HOOK(copy_context)
/* clang-format on */

#define HOOK_MEMBER(name) PyObject *name;
struct hooks {
    HOOKS(HOOK_MEMBER)
};
extern struct hooks hooks;
PyObject *hooks_set(PyObject *module, PyObject *arguments, PyObject *keywords);

/* Does what has to be done where asyncio runs on this thread: -1, with an exception, for failure.
 */
int enter_asyncio(void);
PyObject *running_loop(void);
PyObject *entered_asyncio(PyObject *module, PyObject *arguments);

/* The asyncio loop that runs here, and what the package has for it. */
struct place {
    PyObject *loop;
    PyObject *said; /* what Python code has said of it, and the rest is borrowed from */
    PyObject *waiting;
    vow_executor *executor;
    int descriptor;
};

/* 1, owned: `place_leave` gives it back; 0: none runs; -1, with an exception, for failure. */
int place_here(struct place *place);
void place_leave(struct place *place);

/* Threads have numbers of their own here, as an identifier of Python's is soon that of another
 * thread. Under the interpreter's lock; and without it, where 0 is one that has none. */
unsigned long this_thread(void);
unsigned long known_thread(void);

/* ------------------------------------------------------------ Values: values.c */

extern const vow_class object_class;

/* The lock is given back by PyGILState_Release. */
PyGILState_STATE lock_interpreter(void);
void forget_ended_states(void);
extern bool errors_delivered; /* since the last full collection: see promise.c */

/* An object that the library holds, and that `destroy_object` gives back. */
void *keep_object(PyObject *item);
void drop_object(void *item);
void destroy_object(void *item);
long objects_kept(void);

/* An owned value. `context` is that of a handler whose result it is, or NULL. -1: an exception. */
int to_value(PyObject *item, PyObject *context, vow_value *value);
int to_list_value(PyObject *items, vow_value *value);
vow_value error_to_value(PyObject *error);
PyObject *error_from(vow_value value);
PyObject *take_value(vow_value value);
PyObject *values_release_object(PyObject *module, PyObject *bits);
PyObject *values_object_address(PyObject *module, PyObject *bits);
/* The Python object of a borrowed value. */
PyObject *from_value(vow_value value);

/* ------------------------------------------------------------ Readers, calls: readers.c */

/* How many read a promise: its own object has it, and each reader. Under the interpreter's lock. */
struct readers {
    long references;
    long live;
    bool is_rung;             /* its first reader was a task: see waking.c */
    atomic_bool has_handlers; /* or callbacks: also looked at without the lock */
};

typedef struct {
    PyObject base;
    struct readers *of;
} reader_object;

/* Functions that the library is to call, with the context variables of their registration. */
typedef struct {
    reader_object reader;
    PyObject *function;
    PyObject *other;
    PyObject *only;
    PyObject *context;
} call_object;

extern PyTypeObject *reader_type, *call_type;
struct readers *readers_hold(struct readers *readers);
void readers_drop(struct readers *readers);
int reader_reads(reader_object *reader, struct readers **readers);
void reader_end(reader_object *reader);
call_object *call_new(PyObject *function, PyObject *other, PyObject *only);
int readers_init(PyObject *module);

/* ------------------------------------------------------------ Handlers: handlers.c */

vow_value on_fulfilled(vow_value input, void *context);
vow_value on_rejected(vow_value input, void *context);
vow_value on_settled(vow_value input, void *context);
vow_value on_item(vow_value input, void *context);
vow_value on_release(vow_value input, void *context);
vow_value wake(vow_value input, void *waiter);
void wake_when_gone(void *waiter);
void on_notice(void *context);
bool on_condition(vow_value value, void *context);
void on_progress(double fraction, const char *note, void *context);
void handlers_tell(vow_value value);
void handlers_begin(void);
PyObject *handlers_report(PyObject *module, PyObject *arguments);
PyObject *handlers_executor_of(PyObject *module, PyObject *arguments);
PyObject *handlers_run_work(PyObject *module, PyObject *arguments);
PyObject *handlers_running(PyObject *module, PyObject *nothing);
PyObject *handlers_inside(PyObject *module, PyObject *nothing);
PyObject *handlers_forked(PyObject *module, PyObject *nothing);
PyObject *handlers_interrupt(PyObject *module, PyObject *arguments);

/* ------------------------------------------------------------ Promises, resolvers */

/* DETACH: a coroutine goes on. CANCEL: a time-out ends what it waits for. */
enum at_end { LET_GO, DETACH, CANCEL };

typedef struct promise_object {
    PyObject base;
    vow_promise *handle; /* NULL: the outcome is here, or there never was one */
    struct readers *readers;
    PyObject *value, *error, *traceback, *callbacks;
    char watched, listed;
    char at_end;                          /* of this object, where nobody reads the promise */
    struct promise_object *next, **place; /* of all that have a handle */
} promise_object;

extern PyTypeObject *promise_type, *resolver_type;
extern bool releasing; /* false: references are left to the end of the process */

PyObject *promise_new(vow_promise *handle);
PyObject *promise_list(PyObject *module, PyObject *nothing);
vow_promise *promise_with(vow_value value);
vow_promise *promise_hold(promise_object *self);
vow_promise *promise_give(promise_object *self);
vow_promise *promise_hold_for_good(promise_object *self);
vow_promise *promise_hold_awaited(promise_object *self, reader_object *waiter, bool *is_rung);
bool promise_read_by_others(promise_object *self, PyObject *reader);
void promise_release(vow_promise *handle);
void promise_cancel(vow_promise *handle);
int promise_take_outcome(promise_object *self);
void promise_raise(promise_object *self);
PyObject *promise_await(PyObject *self);
PyObject *promise_why_not(PyObject *module, PyObject *number);
PyObject *promise_share(PyObject *module, PyObject *nothing);
PyObject *timed(PyObject *module, PyObject *arguments);
int calls_init(PyObject *module);
int promise_init(PyObject *module);
int awaiting_init(PyObject *module);
int waking_init(PyObject *module);

/* ------------------------------------------------------------ Tasks that wait: waking.c */

PyObject *run_loop(PyObject *module, PyObject *number);
PyObject *waiter_new(const struct place *place, PyObject **future);
int waiter_wait(PyObject *waiter, promise_object *promise, const struct place *place,
                vow_promise **reaction);
bool waiter_is_woken(PyObject *waiter);
void waiter_leave(PyObject *waiter);

/* ------------------------------------------------------------ Resolvers */

int resolver_init(PyObject *module);
PyObject *resolver_pending(PyObject *module, PyObject *arguments, PyObject *keywords);
PyObject *resolver_following(PyObject *module, PyObject *is_own);
PyObject *resolver_rejected(PyObject *module, PyObject *error);
PyObject *resolver_resolved(PyObject *module, PyObject *value);
PyObject *combine(PyObject *module, PyObject *arguments);

/* Py_RETURN_NONE of headers from 3.12 on counts nothing, as None is immortal there; before, it is
 * not. */
static inline PyObject *new_none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

/* A heap type's instance goes: its memory, and its reference to the type. */
void free_object(PyObject *self);
/* A type of the specification, in the module too. */
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *known);
PyTypeObject *add_subtype(PyObject *module, PyType_Spec *spec, PyTypeObject *base,
                          PyTypeObject *known);

#endif
