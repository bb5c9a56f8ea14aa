/* The boundary that nothing unwinds across: an exception, pthread_exit or a cancellation that
 * leaves a handler ends the process with a sentence.
 *
 * Each function of the library names this routine in its unwind table (scripts/build-objects), as
 * C++ does for a noexcept function. Tables are read only when something unwinds, so until then it
 * costs nothing. */
#define _GNU_SOURCE /* syscall */
#include "platform.h"
#include "writing.h"

#include <stdatomic.h>
#include <unwind.h>

static void say(const char *text) {
    vow_platform_write(2, text, strlen(text));
}

/* The mangled name of the thrown type; NULL: the exception is not C++'s own, or was thrown again by
 * another thread. Both C++ libraries have the type in the first word of a header whose end is the
 * unwinder's part. */
static const char *type_of(const struct _Unwind_Exception *exception) {
    static const char classes[][9] = {"\0++CCUNG", "\0++CGNLC"};
    for (size_t index = 0; index < sizeof classes / sizeof *classes; index++) {
        if (memcmp(&exception->exception_class, classes[index], 8) == 0) {
            const char *const *type = ((void *const *)exception)[-10];
            return type == NULL ? NULL : type[1] + (*type[1] == '*');
        }
    }
    return NULL;
}

/* vow_shutdown was called. Then a language may end its threads in the middle of their work, as
 * Python ends its daemons. */
static atomic_int is_over;

void vow_platform_let_threads_end(void) {
    atomic_store(&is_over, 1);
}

/* In the first of the unwinder's two phases, so that the stack is still there for a debugger.
 * pthread_exit and cancellations have the second one only. */
__attribute__((visibility("hidden"))) _Unwind_Reason_Code
vow_platform_boundary(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                      struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
    (void)version;
    (void)kind;
    (void)context;
    if (actions & _UA_FORCE_UNWIND && atomic_load(&is_over)) {
        return _URC_CONTINUE_UNWIND;
    }
    if (actions & _UA_FORCE_UNWIND) {
        say("vow: a thread ended (by pthread_exit or pthread_cancel) inside a handler,");
    } else {
        const char *type = type_of(exception);
        say(type == NULL ? "vow: an exception left a handler," : "vow: an exception of type ");
        if (type != NULL) {
            say(type);
            say(" left a handler,");
        }
    }
    say(" or another function that the library had called; nothing can go on after that\n");
    abort();
}
