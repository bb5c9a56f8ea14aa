/* Holds a promise in every state and a value of every kind, and stops for the debugger inside a
 * handler. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vow.h>

vow_promise *pending, *waiting, *follower, *ready, *labelled, *running, *combined, *later;
vow_promise *none, *truth, *number, *real, *address, *text, *long_text, *thing, *list, *deep;
vow_promise *ending, *closing, *mapped, *cleaning;
vow_promise *rejected, *member_failed, *broken, *cancelled, *released, *nothing;
vow_resolver *resolver, *last_resolver;
vow_executor *serial, *custom, *looping, *inlined, *pool, *main_one;
vow_cancel_source *source, *linked, *stopped;
vow_token *token, *orphaned;
vow_loop *loop, *virtual_loop, *own_loop;
vow_scope *scope, *ended;
vow_registration *listening, *left;
vow_value plain, wrong;

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static atomic_bool all_is_made, lingers, is_over;

/* Whether the first thread is asleep. */
static bool main_waits(void) {
    char line[512] = "";
    FILE *file = fopen("/proc/self/stat", "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) {
        abort();
    }
    fclose(file);
    const char *state = strrchr(line, ')');
    return state != NULL && state[2] == 'S';
}

static vow_value stop_here(vow_value input, void *context) {
    (void)input, (void)context;
    while (!atomic_load(&all_is_made) || !main_waits()) {
    }
    raise(SIGTRAP);
    return vow_none();
}

static vow_value linger(vow_value input, void *context) {
    (void)input, (void)context;
    atomic_store(&lingers, true);
    while (!atomic_load(&is_over)) {
        usleep(1000);
    }
    return vow_none();
}

static vow_value give_closing(vow_value input, void *context) {
    (void)input, (void)context;
    return vow_from_promise(closing);
}

static vow_value map_inline(vow_value input, void *context) {
    (void)input, (void)context;
    vow_value one = vow_int(1);
    mapped = vow_map(vow_list(&one, 1), give_closing, NULL, 1);
    return vow_none();
}

static void submit_elsewhere(void *context, void (*run)(void *work), void *work) {
    (void)context;
    run(work);
}

static const vow_class teapot = {.size = sizeof(vow_class), .name = "teapot"};
static const vow_executor_class postman = {
    .size = sizeof(vow_executor_class), .submit = submit_elsewhere, .flags = VOW_SERIAL};

static vow_promise *with(vow_value value) {
    return vow_promise_with(value);
}

static void make_pending(void) {
    vow_promise *followed;
    pending = vow_promise_create(&resolver);
    (void)vow_resolver_retain(resolver);
    waiting = vow_then(vow_promise_retain(pending), pass, NULL);
    vow_detach(vow_catch(vow_promise_retain(pending), pass, NULL));
    vow_promise *both[2] = {vow_promise_retain(pending), vow_promise_with(vow_int(1))};
    combined = vow_all(both, 2);
    vow_resolver *other;
    follower = vow_promise_create(&other);
    followed = vow_promise_retain(pending);
    (void)vow_resolve(other, vow_from_promise(followed));
    vow_resolver_release(other);
    later = vow_delay(3600LL * 1000000000);

    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = pass,
                             .on_rejected = stop_here,
                             .executor = serial,
                             .label = "labelled \"reaction\""};
    labelled = vow_then_with(vow_promise_retain(pending), &reaction);
    vow_promise_set_label(pending, "the first");
    (void)vow_promise_set_progress(pending, 0.25, NULL);
    vow_promise *own = vow_promise_create(&last_resolver);
    vow_promise_release(own);
}

/* Last, so that its memory is not given to another one. */
static void make_released(void) {
    vow_resolver *kept;
    released = vow_promise_create(&kept);
    vow_resolver_release(kept);
    vow_promise_release(released);
}

static void make_fulfilled(void) {
    char *many = malloc(1000);
    memset(many, 'x', 1000);
    none = with(vow_none());
    truth = with(vow_bool(true));
    number = with(vow_int(-42));
    real = with(vow_double(2.5));
    address = with(vow_pointer(&pending));
    text = with(vow_string("tea \"for\" two\n\xc3\xa9", VOW_NUL_TERMINATED));
    long_text = with(vow_string(many, 1000));
    free(many);
    thing = with(vow_object(&number, &teapot));
    vow_value items[3] = {vow_int(1), vow_string("two", 3), vow_object(NULL, &teapot)};
    list = with(vow_list(items, 3));
    vow_value nested = vow_int(7);
    for (int depth = 0; depth < 12; depth++) {
        nested = vow_list(&nested, 1);
    }
    deep = with(nested);
    plain = vow_string("a value", VOW_NUL_TERMINATED);
    wrong = plain;
    wrong.kind = 77;
}

static void make_rejected(void) {
    vow_resolver *dropped;
    rejected = with(vow_error_wrap("kettle", 17, "no water", vow_int(3)));
    broken = vow_promise_create(&dropped);
    vow_resolver_release(dropped);
    vow_resolver *kept;
    cancelled = vow_promise_create(&kept);
    (void)vow_cancel(cancelled);
    vow_promise *both[2] = {vow_promise_with(vow_int(1)),
                            vow_promise_with(vow_error("kettle", 18, NULL))};
    member_failed = vow_all(both, 2);
    (void)vow_await(member_failed, VOW_FOREVER, NULL);
}

/* Cancelled, and not through: a call whose promise waits for a handler that is running. */
static void make_cancelled(void) {
    ending = vow_async(pool, linger, NULL);
    while (!atomic_load(&lingers)) {
        usleep(1000);
    }
    closing = vow_then(ending, pass, NULL);
    vow_detach(vow_async(inlined, map_inline, NULL));
    (void)vow_cancel(mapped);
}

static vow_promise *never_resolved(void) {
    vow_resolver *kept;
    return vow_promise_create(&kept);
}

static void call(void *context) {
    (void)context;
}

static void make_sources(void) {
    source = vow_cancel_source_create();
    token = vow_cancel_source_token(source);
    linked = vow_cancel_source_create_linked(&token, 1);
    (void)vow_token_register(token, call, NULL, NULL, &listening);
    (void)vow_token_register(token, call, NULL, NULL, &left);
    (void)vow_registration_leave(left);
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = pass, .token = token};
    for (int i = 0; i < 2; i++) {
        vow_detach(vow_then_with(never_resolved(), &reaction));
    }
    stopped = vow_cancel_source_create();
    (void)vow_cancel_source_cancel_with(stopped, vow_string("enough", VOW_NUL_TERMINATED));
    vow_cancel_source *gone = vow_cancel_source_create();
    orphaned = vow_token_retain(vow_cancel_source_token(gone));
    vow_cancel_source_release(gone);
}

static void make_loops(void) {
    virtual_loop = vow_loop_create_virtual();
    vow_detach(vow_delay(VOW_SECOND));
    for (int i = 0; i < 2; i++) {
        vow_detach(vow_async(vow_loop_executor(virtual_loop), pass, NULL));
    }
    /* The newest is the one that this thread runs where it waits. */
    own_loop = vow_loop_create();
}

static void make_scopes(void) {
    scope = vow_scope_create();
    (void)vow_scope_add(scope, never_resolved());
    (void)vow_scope_add(scope, never_resolved());
    ended = vow_scope_create();
    (void)vow_scope_add(ended, with(vow_error("kettle", 19, NULL)));
    vow_scope_cancel(ended);
}

static void silence(vow_value error, void *context) {
    (void)error, (void)context;
}

int main(void) {
    vow_on_unhandled(silence, NULL);
    serial = vow_executor_serial("letters");
    custom = vow_executor_custom(&postman, NULL);
    loop = vow_loop_create();
    looping = vow_loop_executor(loop);
    inlined = vow_executor_inline();
    pool = vow_executor_pool();
    main_one = vow_executor_main();
    make_fulfilled();
    make_rejected();
    make_sources();
    make_scopes();
    make_cancelled();
    make_loops();
    make_pending();
    /* The second stays behind the first on the serial executor. */
    running = vow_async(serial, stop_here, NULL);
    ready = vow_async(serial, pass, NULL);
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = pass,
                             .on_rejected = pass,
                             .executor = serial,
                             .flags = VOW_FINALLY};
    cleaning = vow_then_with(vow_promise_with(vow_int(5)), &reaction);
    (void)vow_cancel(cleaning);
    make_released();
    atomic_store(&all_is_made, true);
    (void)vow_await(running, VOW_FOREVER, NULL);
    atomic_store(&is_over, true);
    return 0;
}
