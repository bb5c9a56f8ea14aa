/* The names of a Swift program's functions: the owner of each, and its name for people. */
#ifndef VOW_LIBRARY
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "site.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The Swift runtime's, if it is there. */
typedef char *(*demangler)(const char *, size_t, char *, size_t *, uint32_t);
static demangler demangle;
static pthread_once_t loading = PTHREAD_ONCE_INIT;

static void load(void) {
    void *function = dlsym(RTLD_DEFAULT, "swift_demangle");
    memcpy(&demangle, &function, sizeof function);
}

/* The caller frees it; NULL: the name is no Swift name. */
static char *demangled(const char *name) {
    pthread_once(&loading, load);
    return demangle == NULL ? NULL : demangle(name, strlen(name), NULL, NULL, 0);
}

static int begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static int ends(const char *text, const char *with) {
    size_t length = strlen(text), wanted = strlen(with);
    return length >= wanted && strcmp(text + length - wanted, with) == 0;
}

static int begins_with_one(const char *text, const char *const *list) {
    while (*list != NULL && !begins(text, *list)) {
        list++;
    }
    return *list != NULL;
}

/* The name is of a module of this package, or of a module that comes with Swift. */
static int is_own(const char *name) {
    static const char *const beginnings[] = {
        "vow_", "$s7VowCore", "$s3Vow", "$s12VowOperators", "$s13VowFoundation",
        /* Swift's library and runtime, where they are linked statically. */
        "$sS", "$ss", "$s8Dispatch", "$s10Foundation", "$s20FoundationEssentials",
        "$s17FoundationNetworking", "$s15Synchronization", "swift_", "_swift_", "dispatch_",
        "_dispatch_",
        /* Made by the compiler. */
        "OUTLINED_FUNCTION_", NULL};
    return begins_with_one(name, beginnings);
}

static const char extension_mark[] = "(extension in ";

/* Whether the function is in a program's extension of a type that is not the program's. */
static int is_in_extension_of_program(const char *name) {
    static const char *const modules[] = {"Vow)",   "VowCore)",  "VowOperators)", "VowFoundation)",
                                          "Swift)", "Dispatch)", "Foundation",    NULL};
    char *text = demangled(name);
    const char *extension = text == NULL ? NULL : strstr(text, extension_mark);
    int is_of_program =
        extension != NULL && !begins_with_one(extension + sizeof extension_mark - 1, modules);
    free(text);
    return is_of_program;
}

/* An adapter between two ways of calling a closure. An adapter that was made for a certain closure
 * of the program's has the closure's name in its own, and may have taken the closure into it. */
static int is_thunk(const char *name) {
    return begins(name, "$s") && (ends(name, "TR") || ends(name, "TRTA"));
}

static int is_thunk_with_closure_of_program(const char *name) {
    const char *thunk = begins(name, "$s") ? strstr(name, "TR0") : NULL;
    const char *closure = thunk == NULL ? NULL : strstr(thunk, "$s");
    return closure != NULL && !is_own(closure);
}

vow_owner vow_owner_of_name(const char *name) {
    if (is_thunk_with_closure_of_program(name)) {
        return vow_program;
    }
    if (is_thunk(name) || (is_own(name) && !is_in_extension_of_program(name))) {
        return vow_own;
    }
    return vow_program;
}

/* The text behind the last " in " that names an enclosing part. */
static const char *outermost(const char *text) {
    static const char inside[] = " in ";
    const char *found = text;
    for (const char *next = strstr(text, inside); next != NULL; next = strstr(next + 1, inside)) {
        int is_extension = next - text >= 10 && begins(next - 10, "(extension");
        int is_private = next[sizeof inside - 1] == '_';
        found = is_extension || is_private ? found : next + sizeof inside - 1;
    }
    return found;
}

/* For "(load in _D0)(Swift.Int) -> ()", which is private to the file D0: the ends of the whole and
 * of "load". */
static const char *end_of_private(const char *from, const char **end_of_name) {
    const char *end = *from == '(' ? strchr(from, ')') : NULL;
    *end_of_name = end == NULL ? NULL : strstr(from, " in _");
    return *end_of_name != NULL && *end_of_name < end ? end : NULL;
}

/* For "static site.Page<A>.load(Swift.Int) -> ()": "static site.Page.load". */
static size_t shorten(const char *from, char *buffer, size_t size) {
    size_t used = 0;
    int depth = 0;
    if (begins(from, extension_mark)) {
        const char *behind = strchr(from, ':');
        from = behind == NULL ? from : behind + 1;
    }
    for (; *from != 0 && used + 1 < size; from++) {
        const char *end_of_name;
        const char *end = end_of_private(from, &end_of_name);
        if (end != NULL) {
            for (from++; from < end_of_name && depth == 0 && used + 1 < size; from++) {
                buffer[used++] = *from;
            }
            from = end;
            continue;
        }
        if (depth == 0 && (*from == '(' || begins(from, " -> ") || begins(from, " : "))) {
            break;
        }
        depth += *from == '<';
        if (depth == 0) {
            buffer[used++] = *from;
        }
        depth -= *from == '>' && depth > 0;
    }
    buffer[used] = 0;
    return used;
}

const char *vow_readable_name(const char *name, char *buffer, size_t size) {
    static const char closure[] = "closure in ";
    char *text = begins(name, "$s") ? demangled(name) : NULL;
    size_t used = 0;
    if (text != NULL && strstr(text, "thunk") == NULL) {
        int is_closure = strstr(text, "closure #") != NULL && size > sizeof closure;
        size_t place = is_closure ? sizeof closure - 1 : 0;
        memcpy(buffer, closure, place);
        used = shorten(outermost(text), buffer + place, size - place);
    }
    free(text);
    return used > 0 ? buffer : name;
}
#else
/* The library's own names say nothing of programs. */
typedef int vow_no_names;
#endif
