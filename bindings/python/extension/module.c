/* The module `vow._core`: the hot paths of the package, with what it takes from the library and
 * from Python code. */
#include <dlfcn.h>

#include "core.h"

struct library vow;
struct contexts contexts;
struct hooks hooks;

/* ------------------------------------------------------------ The library, and Python's own */

#define FIND(name)                                                                                 \
    *(void **)&vow.name = dlsym(library, "vow_" #name);                                            \
    if (vow.name == NULL) {                                                                        \
        PyErr_SetString(PyExc_ImportError, "vow: the library is too old: it has no vow_" #name);   \
        return false;                                                                              \
    }

bool library_load(const char *path) {
    void *library = dlopen(path, RTLD_NOW); /* the one that is there: never closed */
    if (library == NULL) {
        PyErr_SetString(PyExc_ImportError, dlerror());
        return false;
    }
    LIBRARY_FUNCTIONS(FIND)
    *(void **)&contexts.copy_current = dlsym(RTLD_DEFAULT, "PyContext_CopyCurrent");
    *(void **)&contexts.copy = dlsym(RTLD_DEFAULT, "PyContext_Copy");
    *(void **)&contexts.enter = dlsym(RTLD_DEFAULT, "PyContext_Enter");
    *(void **)&contexts.exit = dlsym(RTLD_DEFAULT, "PyContext_Exit");
    if (contexts.exit == NULL)
        contexts.enter = NULL;
    return true;
}

static PyObject *module_load(PyObject *module, PyObject *path) {
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    bool is_loaded = library_load(PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    if (!is_loaded)
        return NULL;
    return PyLong_FromUnsignedLong(vow.version());
}

/* ------------------------------------------------------------ Hooks */

#define TAKE(name)                                                                                 \
    if ((item = PyDict_GetItemString(keywords, #name)) != NULL) {                                  \
        PyObject *before = hooks.name;                                                             \
        Py_INCREF(item);                                                                           \
        hooks.name = item;                                                                         \
        Py_XDECREF(before);                                                                        \
        taken++;                                                                                   \
    }

PyObject *hooks_set(PyObject *module, PyObject *arguments, PyObject *keywords) {
    Py_ssize_t taken = 0;
    PyObject *item;
    if (keywords == NULL)
        return new_none();
    HOOKS(TAKE)
    if (PyErr_Occurred())
        return NULL;
    if (taken != PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "vow: a hook of an unknown name");
        return NULL;
    }
    return new_none();
}

/* ------------------------------------------------------------ Objects that the library holds */

/* begin(): the library may tell of errors from now on, as all hooks are there. */
static PyObject *module_begin(PyObject *module, PyObject *nothing) {
    handlers_begin();
    return new_none();
}

static PyObject *module_kept(PyObject *module, PyObject *nothing) {
    return PyLong_FromLong(objects_kept());
}

static PyObject *module_stop_releasing(PyObject *module, PyObject *nothing) {
    releasing = false;
    return new_none();
}

/* ------------------------------------------------------------ The module */

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *known) {
    PyObject *type = (PyObject *)known;
    if (type == NULL && spec != NULL)
        type = PyType_FromSpec(spec);
    if (type == NULL)
        return NULL;
    PyObject *name = PyObject_GetAttrString(type, "__name__");
    int status = name == NULL ? -1 : PyObject_SetAttr(module, name, type);
    Py_XDECREF(name);
    return status < 0 ? NULL : (PyTypeObject *)type;
}

PyTypeObject *add_subtype(PyObject *module, PyType_Spec *spec, PyTypeObject *base,
                          PyTypeObject *known) {
    PyObject *bases = known == NULL ? PyTuple_Pack(1, (PyObject *)base) : NULL;
    if (bases != NULL)
        known = (PyTypeObject *)PyType_FromSpecWithBases(spec, bases);
    Py_XDECREF(bases);
    return add_type(module, NULL, known);
}

static int add_address(PyObject *module, const char *name, const void *address) {
    PyObject *number = PyLong_FromVoidPtr((void *)address);
    if (number == NULL)
        return -1;
    int status = PyObject_SetAttrString(module, name, number);
    Py_DECREF(number);
    return status;
}

#define ADDRESS(name) (add_address(module, #name, (const void *)(uintptr_t)name) < 0)

static int module_execute(PyObject *module) {
    /* The library calls one interpreter; the end of another must not end it for all. */
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError,
                        "vow: only the main interpreter can use it, not a subinterpreter");
        return -1;
    }
    if (readers_init(module) < 0 || promise_init(module) < 0 || awaiting_init(module) < 0 ||
        waking_init(module) < 0 || resolver_init(module) < 0 || calls_init(module) < 0)
        return -1;
    if (ADDRESS(on_item) || ADDRESS(on_release) || ADDRESS(on_progress))
        return -1;
    return 0;
}

static PyMethodDef module_methods[] = {
    {"load", module_load, METH_O, NULL},
    {"hooks", (PyCFunction)(void (*)(void))hooks_set, METH_VARARGS | METH_KEYWORDS, NULL},
    {"entered", entered_asyncio, METH_VARARGS, NULL},
    {"promises", promise_list, METH_NOARGS, NULL},
    {"kept", module_kept, METH_NOARGS, NULL},
    {"running", handlers_running, METH_NOARGS, NULL},
    {"inside", handlers_inside, METH_NOARGS, NULL},
    {"forked", handlers_forked, METH_NOARGS, NULL},
    {"interrupt", handlers_interrupt, METH_VARARGS, NULL},
    {"pending", (PyCFunction)(void (*)(void))resolver_pending, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("A pending promise, and what settles it. `kind` is for type checkers: what it is a "
               "promise of.")},
    {"following", resolver_following, METH_O, NULL},
    {"resolved", resolver_resolved, METH_O, NULL},
    {"combine", combine, METH_VARARGS, NULL},
    {"rejected", resolver_rejected, METH_O, NULL},
    {"timed", timed, METH_VARARGS, NULL},
    {"why_not", promise_why_not, METH_O, NULL},
    {"share", promise_share, METH_NOARGS, NULL},
    {"report", handlers_report, METH_VARARGS, NULL},
    {"executor_of", handlers_executor_of, METH_VARARGS, NULL},
    {"run_work", handlers_run_work, METH_VARARGS, NULL},
    {"release_object", values_release_object, METH_O, NULL},
    {"object_address", values_object_address, METH_O, NULL},
    {"close", gate_close, METH_NOARGS, NULL},
    {"wait", gate_wait, METH_NOARGS, NULL},
    {"shut_down", gate_shut_down, METH_O, NULL},
    {"begin", module_begin, METH_NOARGS, NULL},
    {"run_loop", run_loop, METH_O, NULL},
    {"stop_releasing", module_stop_releasing, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_execute},
    {0, NULL},
};
static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "vow._core", NULL, 0, module_methods, module_slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
    return PyModuleDef_Init(&module_definition);
}
