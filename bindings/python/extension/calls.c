/* The library's functions for Python code: `generate` makes most of them from the header; those
 * that take structures are here. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* What the library is told of functions that it calls several times, from a tuple of a `Call`, an
 * executor and a token: it lets go of them at the end. */
static int to_call(PyObject *said, vow_call *call) {
    PyObject *functions;
    unsigned long long executor, token;
    if (!PyArg_ParseTuple(said, "O!KK", call_type, &functions, &executor, &token))
        return -1;
    *call = (vow_call){.size = sizeof *call,
                       .context = keep_object(functions),
                       .destroy = destroy_object,
                       .executor = (vow_executor *)(uintptr_t)executor,
                       .token = (vow_token *)(uintptr_t)token};
    return 0;
}

#define MAKE_CALLS
#include "made.h"

/* ------------------------------------------------------------ With structures */

/* map(items, call, concurrency) */
static PyObject *map(PyObject *module, PyObject *arguments) {
    PyObject *items, *said;
    Py_ssize_t concurrency;
    vow_value list;
    vow_call call;
    vow_promise *handle;
    if (!PyArg_ParseTuple(arguments, "OOn", &items, &said, &concurrency) ||
        to_list_value(items, &list) < 0)
        return NULL;
    if (to_call(said, &call) < 0) {
        vow.value_release(list);
        return NULL;
    }
    UNLOCKED(handle = vow.map_with(list, on_item, (size_t)concurrency, &call));
    return gate_result(promise_new(handle));
}

/* retry(call, asks, attempts, first_delay_ns, factor, max_delay_ns, jitter, deadline_ns) */
static PyObject *retry(PyObject *module, PyObject *arguments) {
    PyObject *said;
    int asks;
    unsigned long long attempts;
    long long first, longest, deadline;
    double factor, jitter;
    vow_call call;
    vow_promise *handle;
    if (!PyArg_ParseTuple(arguments, "OpKLdLdL", &said, &asks, &attempts, &first, &factor, &longest,
                          &jitter, &deadline) ||
        to_call(said, &call) < 0)
        return NULL;
    const vow_retry_policy policy = {.size = sizeof policy,
                                     .attempts = attempts,
                                     .first_delay_ns = first,
                                     .factor = factor,
                                     .max_delay_ns = longest,
                                     .jitter = jitter,
                                     .deadline_ns = deadline,
                                     .may_retry = asks ? on_condition : NULL};
    UNLOCKED(handle = vow.retry_with(&policy, on_item, &call));
    return gate_result(promise_new(handle));
}

/* scope(fail_fast, deadline_ns, grace_ns): the address of a scope, owned. */
static PyObject *scope(PyObject *module, PyObject *arguments) {
    int fail_fast;
    long long deadline, grace;
    if (!PyArg_ParseTuple(arguments, "pLL", &fail_fast, &deadline, &grace))
        return NULL;
    const vow_scope_options options = {.size = sizeof options,
                                       .flags = fail_fast ? VOW_SCOPE_FAIL_FAST : 0,
                                       .deadline_ns = deadline,
                                       .grace_ns = grace};
    return PyLong_FromVoidPtr(vow.scope_create_with(&options));
}

/* source(tokens): the address of a source that is cancelled with each of them, owned. */
static PyObject *source(PyObject *module, PyObject *tokens) {
    Py_ssize_t count = PyTuple_Size(tokens);
    vow_token **parents = count < 0 ? NULL : malloc(((size_t)count + 1) * sizeof *parents);
    for (Py_ssize_t i = 0; parents != NULL && i < count; i++)
        parents[i] = PyLong_AsVoidPtr(PyTuple_GetItem(tokens, i));
    vow_cancel_source *made = NULL;
    if (parents != NULL && !PyErr_Occurred())
        made = vow.cancel_source_create_linked(parents, (size_t)count);
    free(parents);
    return PyErr_Occurred() ? NULL : PyLong_FromVoidPtr(made);
}

/* watch(token, resolver, call): has the function of a call called when one of them is cancelled.
 * The status, and the address of the registration, owned. */
static PyObject *watch(PyObject *module, PyObject *arguments) {
    unsigned long long token, resolver;
    PyObject *call;
    vow_registration *registration = NULL;
    int status;
    if (!PyArg_ParseTuple(arguments, "KKO!", &token, &resolver, call_type, &call))
        return NULL;
    void *context = keep_object(call);
    Py_BEGIN_ALLOW_THREADS;
    if (token != 0)
        status = vow.token_register((vow_token *)(uintptr_t)token, on_notice, context,
                                    destroy_object, &registration);
    else
        status = vow.resolver_register((vow_resolver *)(uintptr_t)resolver, on_notice, context,
                                       destroy_object, &registration);
    Py_END_ALLOW_THREADS;
    return gate_result(Py_BuildValue("iN", status, PyLong_FromVoidPtr(registration)));
}

/* label(text): the address of its copy, which lives for ever, as the library wants it. */
static PyObject *label(PyObject *module, PyObject *text) {
    PyObject *bytes = PyUnicode_AsUTF8String(text);
    char *copy = bytes == NULL ? NULL : strdup(PyBytes_AsString(bytes));
    if (bytes != NULL && copy == NULL)
        PyErr_NoMemory();
    Py_XDECREF(bytes);
    return copy == NULL ? NULL : PyLong_FromVoidPtr(copy);
}

static PyObject *stats(PyObject *module, PyObject *nothing) {
    vow_statistics now = {.size = sizeof now};
    vow.stats(&now);
    return Py_BuildValue("KKKKKKK", now.created, now.settled, now.live, now.pending, now.handlers,
                         now.bytes, now.spare);
}

static PyMethodDef methods[] = {
    MADE_METHODS{"map", map, METH_VARARGS, NULL}, {"retry", retry, METH_VARARGS, NULL},
    {"scope", scope, METH_VARARGS, NULL},         {"source", source, METH_O, NULL},
    {"watch", watch, METH_VARARGS, NULL},         {"label", label, METH_O, NULL},
    {"stats", stats, METH_NOARGS, NULL},          {NULL, NULL, 0, NULL},
};

#define ADD_CODE(name)                                                                             \
    if (PyModule_AddIntConstant(module, #name, VOW_##name) < 0)                                    \
        return -1;

int calls_init(PyObject *module) {
    LIBRARY_ERRORS(ADD_CODE)
    return PyModule_AddFunctions(module, methods);
}
