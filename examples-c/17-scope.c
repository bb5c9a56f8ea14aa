/* 17-scope.c: a page is made of many requests, which belong together: they have one deadline, one
 * failure ends them all, and nothing of them is left behind.
 */
#include "common.h"

/* A request that takes a while; on a virtual loop, so that no time passes. */
struct request {
    const char *name;
    int64_t takes;
    int64_t fails; /* 0: it does not */
    vow_scope *scope;
};

static vow_value answer(vow_value input, void *context) {
    const struct request *request = context;
    (void)input;
    if (request->fails != 0) {
        return vow_error("server", request->fails, "no such page");
    }
    printf("  %s: answered\n", request->name);
    return vow_none();
}

static vow_value tell(vow_value input, void *context) {
    const struct request *request = context;
    if (input.kind == VOW_ERROR) {
        printf("  %s: code %" PRId64 ", because of code %" PRId64 "\n", request->name,
               vow_error_code(input), vow_error_code(vow_error_payload(input)));
    }
    return vow_value_retain(input);
}

/* Runs as a member. What it makes is made under the scope, so the delay has the scope's deadline.
 */
static vow_value begin(vow_value input, void *context) {
    struct request *request = context;
    (void)input;
    vow_promise *reply = vow_then(vow_delay(request->takes), answer, request);
    return vow_from_promise(vow_finally(reply, tell, request));
}

static void start(vow_scope *scope, struct request *request) {
    vow_promise_release(vow_scope_async(scope, NULL, begin, request, NULL));
}

/* A member may add others: it has a reference to the scope, which its context gives back. */
static vow_value begin_and_follow(vow_value input, void *context) {
    struct request *request = context;
    static struct request picture = {.name = "picture", .takes = 2 * VOW_SECOND};
    start(request->scope, &picture);
    return begin(input, context);
}

static void leave(void *context) {
    vow_scope_release(((struct request *)context)->scope);
}

static void page(const char *what, vow_scope_options options, int64_t takes, int64_t fails) {
    struct request text = {.name = "text", .takes = VOW_SECOND};
    struct request advert = {.name = "advert", .takes = takes, .fails = fails};
    vow_scope *scope = vow_scope_create_with(&options);

    printf("%s:\n", what);
    text.scope = vow_scope_retain(scope);
    vow_promise_release(vow_scope_async(scope, NULL, begin_and_follow, &text, leave));
    start(scope, &advert);

    int64_t began = vow_now();
    vow_promise *end = vow_scope_close(scope);
    vow_value error = vow_none();
    if (vow_await(end, VOW_FOREVER, &error) == (int)VOW_REJECTED) {
        printf("  the page: code %" PRId64 "\n", vow_error_code(error));
    }
    printf("  seconds that took: %" PRId64 "\n", (vow_now() - began) / VOW_SECOND);
    vow_value_release(error);
    vow_promise_release(end);
}

int main(void) {
    vow_loop *loop = vow_loop_create_virtual();
    vow_scope_options options = {.size = sizeof options, .deadline_ns = 10 * VOW_SECOND};

    page("a page", options, 3 * VOW_SECOND, 0);
    page("one that takes too long", options, 60 * VOW_SECOND, 0);
    options.flags = VOW_SCOPE_FAIL_FAST;
    page("one of which a part fails", options, VOW_SECOND / 2, 404);

    vow_loop_destroy(loop);
    return nothing_left();
}
