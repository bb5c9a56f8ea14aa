/* Tests that whoever leaves a handler but by returning is told so: an exception, pthread_exit, a
 * cancellation and longjmp end the process with a sentence. */
#include "child.h"

#include "../c/worker.h"
#include <setjmp.h>
#include <signal.h>
#include <unwind.h>

/* AddressSanitizer keeps frames elsewhere, and says itself that one is gone. */
#if defined(__SANITIZE_ADDRESS__)
#define FRAMES_ARE_ELSEWHERE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FRAMES_ARE_ELSEWHERE
#endif
#endif

/* An exception as a language other than C++ would throw it. */
static struct _Unwind_Exception thrown = {.exception_class = 0x564f575445535400};

static vow_value throws(vow_value input, void *context) {
    (void)input;
    (void)context;
    _Unwind_RaiseException(&thrown);
    return vow_none();
}

static void throws_when_called(void *context) {
    throws(vow_none(), context);
}

static void throw_inline(void) {
    vow_promise_release(then_inline(fulfilled_int(1), throws, NULL));
}

static void throw_late(void) {
    vow_resolver *resolver;
    vow_promise *promise = then_inline(vow_promise_create(&resolver), throws, NULL);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

static void throw_on_pool(void) {
    vow_await(vow_async(vow_executor_pool(), throws, NULL), LONG_ENOUGH, NULL);
}

static void throw_on_serial(void) {
    vow_await(vow_async(vow_executor_serial("thrower"), throws, NULL), LONG_ENOUGH, NULL);
}

static void throw_on_custom(void) {
    static worker own;
    worker_start(&own);
    vow_await(vow_async(vow_executor_custom(&worker_class, &own), throws, NULL), LONG_ENOUGH, NULL);
}

static void throw_on_loop(void) {
    vow_loop *loop = vow_loop_create();
    vow_promise_release(vow_async(vow_loop_executor(loop), throws, NULL));
    vow_loop_run_once(loop, 0);
}

/* Where the exception came from: a thrower that is no other function's tail. */
__attribute__((noinline)) static vow_value throws_deep(vow_value input, void *context) {
    vow_value out = throws(input, context);
    __asm__ volatile("" ::: "memory");
    return out;
}

/* Whether a frame is one of a function: it returns into its first bytes. */
static _Unwind_Reason_Code look_for_thrower(struct _Unwind_Context *frame, void *found) {
    uintptr_t from = (uintptr_t)throws_deep;
    uintptr_t place = _Unwind_GetIP(frame);
    *(bool *)found |= place > from && place - from < 256;
    return _URC_NO_REASON;
}

static void look_at_stack(int number) {
    static const char is_there[] = "the thrower is on the stack\n";
    bool found = false;
    _Unwind_Backtrace(look_for_thrower, &found);
    if (found && write(2, is_there, sizeof is_there - 1) < 0) {
        _exit(8);
    }
    signal(number, SIG_DFL);
}

static void throw_and_look(void) {
    signal(SIGABRT, look_at_stack);
    vow_promise_release(then_inline(fulfilled_int(1), throws_deep, NULL));
}

static void throw_in_wait(void) {
    vow_loop *loop = vow_loop_create();
    vow_await(vow_async(vow_loop_executor(loop), throws, NULL), LONG_ENOUGH, NULL);
}

static void throw_in_destructor(void) {
    static const vow_class thrower = {sizeof thrower, "thrower", throws_when_called, NULL};
    vow_value_release(vow_object(NULL, &thrower));
}

static void throw_in_context(void) {
    vow_promise_release(link_full(vow_executor_inline(), fulfilled_int(1), add_one, NULL, NULL,
                                  throws_when_called));
}

static void throw_in_hook(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_resolver_on_cancel(resolver, throws_when_called, NULL, NULL);
    vow_cancel(promise);
}

static void throw_when_unhandled(vow_value error, void *context) {
    throws(error, context);
}

static void throw_in_reporter(void) {
    vow_on_unhandled(throw_when_unhandled, NULL);
    vow_promise_release(rejected_code(1));
}

static void submit_and_throw(void *context, void (*run)(void *), void *work) {
    (void)run;
    (void)work;
    throws(vow_none(), context);
}

static void throw_in_submit(void) {
    vow_executor_class thrower = {.size = sizeof thrower, .submit = submit_and_throw};
    vow_detach(vow_async(vow_executor_custom(&thrower, NULL), add_one, NULL));
}

static vow_value exits(vow_value input, void *context) {
    (void)input;
    pthread_exit(context);
}

static vow_promise *unfinished;

static void *exit_in_handler(void *context) {
    vow_resolver *resolver;
    unfinished = then_inline(vow_promise_create(&resolver), exits, context);
    vow_resolve(resolver, vow_int(1));
    return NULL;
}

static void exit_inline(void) {
    pthread_join(start_thread(exit_in_handler, NULL), NULL);
}

static void exit_on_pool(void) {
    vow_await(vow_async(vow_executor_pool(), exits, NULL), LONG_ENOUGH, NULL);
}

static vow_value is_cancelled(vow_value input, void *context) {
    (void)context;
    pthread_cancel(pthread_self());
    pthread_testcancel();
    return input;
}

static void *cancelled_in_handler(void *context) {
    vow_promise_release(then_inline(fulfilled_int(1), is_cancelled, context));
    return NULL;
}

static void cancel_inline(void) {
    pthread_join(start_thread(cancelled_in_handler, NULL), NULL);
}

static void exit_after_shutdown(void) {
    vow_shutdown(VOW_FOREVER);
    exit_inline();
    if (int_of(then_inline(fulfilled_int(1), add_one, NULL)) != 2) {
        abort();
    }
    /* What the thread was at is lost, its resolver too. */
    _exit(vow_promise_state(unfinished) == VOW_PENDING ? 0 : 1);
}

static jmp_buf place;

static vow_value jumps(vow_value input, void *context) {
    (void)input;
    (void)context;
    longjmp(place, 1);
}

static void jump_out(void) {
    if (setjmp(place) == 0) {
        vow_promise_release(then_inline(fulfilled_int(1), jumps, NULL));
    }
}

static void jump_and_wait(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    jump_out();
    vow_await(promise, MILLISECOND, NULL);
}

static void jump_and_run_loop(void) {
    vow_loop *loop = vow_loop_create();
    jump_out();
    vow_loop_run_once(loop, 0);
}

static void jump_and_run_until(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_loop *loop = vow_loop_create();
    jump_out();
    vow_loop_run_until(loop, promise, 0);
}

#ifdef VOW_CHECKED
static void jump_and_make(void) {
    jump_out();
    fulfilled_int(1);
}

static void jumps_when_called(void *context) {
    jumps(vow_none(), context);
}

static void jump_out_of_destructor(void) {
    static const vow_class jumper = {sizeof jumper, "jumper", jumps_when_called, NULL};
    if (setjmp(place) == 0) {
        vow_value_release(vow_object(NULL, &jumper));
    }
    fulfilled_int(1);
}
#endif

static vow_value jumps_inside(vow_value input, void *context) {
    jmp_buf here;
    (void)context;
    if (setjmp(here) == 0) {
        longjmp(here, 1);
    }
    return vow_value_retain(input);
}

/* What is allowed: a jump within a handler, and the end of a thread behind its handlers. */
static void *behave(void *context) {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise = then_inline(fulfilled_int(1), jumps_inside, NULL);
    promise = then_on(vow_loop_executor(loop), promise, jumps_inside, NULL);
    if (int_of(promise) != 1) {
        abort();
    }
    vow_loop_destroy(loop);
    pthread_exit(context);
}

static void behave_well(void) {
    pthread_join(start_thread(behave, NULL), NULL);
}

static const part parts[] = {
    {"inline", throw_inline},
    {"inline, late", throw_late},
    {"pool", throw_on_pool},
    {"serial", throw_on_serial},
    {"custom", throw_on_custom},
    {"loop", throw_on_loop},
    {"a wait that runs a loop", throw_in_wait},
    {"look", throw_and_look},
    {"destructor", throw_in_destructor},
    {"context", throw_in_context},
    {"hook", throw_in_hook},
    {"reporter", throw_in_reporter},
    {"submit", throw_in_submit},
    {"exit, inline", exit_inline},
    {"exit, pool", exit_on_pool},
    {"cancelled, inline", cancel_inline},
    {"exit, after shutdown", exit_after_shutdown},
    {"jump, await", jump_and_wait},
    {"jump, loop", jump_and_run_loop},
    {"jump, loop until", jump_and_run_until},
#ifdef VOW_CHECKED
    {"jump, create", jump_and_make},
    {"jump, destructor", jump_out_of_destructor},
#endif
    {"well", behave_well},
};

TEST("an exception that leaves a handler ends the process with a sentence, on every executor") {
    check_ends("inline", "vow: an exception left a handler");
    check_ends("inline, late", "vow: an exception left a handler");
    check_ends("pool", "vow: an exception left a handler");
    check_ends("serial", "vow: an exception left a handler");
    check_ends("custom", "vow: an exception left a handler");
    check_ends("loop", "vow: an exception left a handler");
    check_ends("a wait that runs a loop", "vow: an exception left a handler");
}

TEST("so does one that leaves a destructor, a hook or a submit") {
    check_ends("destructor", "vow: an exception left a handler");
    check_ends("context", "vow: an exception left a handler");
    check_ends("hook", "vow: an exception left a handler");
    check_ends("reporter", "vow: an exception left a handler");
    check_ends("submit", "vow: an exception left a handler");
}

TEST("when the process ends, the stack of who threw is still there") {
    check_ends("look", "the thrower is on the stack");
}

TEST("a thread that ends inside a handler ends the process with a sentence") {
    check_ends("exit, inline", "vow: a thread ended (by pthread_exit or pthread_cancel)");
    check_ends("exit, pool", "vow: a thread ended (by pthread_exit or pthread_cancel)");
    check_ends("cancelled, inline", "vow: a thread ended (by pthread_exit or pthread_cancel)");
}

TEST("but after vow_shutdown it may, and what it was at stays pending") {
    check_quiet("exit, after shutdown");
}

TEST("a handler that was left by longjmp is found by the next wait") {
#ifdef FRAMES_ARE_ELSEWHERE
    check_fails("jump, loop until", "stack-use-after-return");
#else
    check_ends("jump, await", "vow: longjmp left a handler");
    check_ends("jump, loop", "vow: longjmp left a handler");
    check_ends("jump, loop until", "vow: longjmp left a handler");
#endif
}

#ifdef VOW_CHECKED
TEST("and in the checked build by the next call, also a destructor") {
    check_ends("jump, create", "vow: longjmp left a handler");
    check_ends("jump, destructor", "vow: longjmp left a handler");
}
#endif

TEST("a jump within a handler, and pthread_exit behind all handlers, are in order") {
    check_quiet("well");
}

int main(int count, char **arguments) {
    return run_part_or_tests(parts, sizeof parts / sizeof *parts, count > 1 ? arguments[1] : NULL);
}
