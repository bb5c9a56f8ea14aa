/* 07-thenable.c: a class of your own that promises follow, as if its objects were promises. */
#include "common.h"

/* A parcel arrives some day. It knows nothing of promises but the one resolver that waits for it.
 * A real one would guard its fields, because subscribe and arrival may be on two threads. */
struct parcel {
    const char *content; /* NULL: still on its way */
    bool returned;       /* came back: nothing to wait for, take the parcel itself */
    vow_resolver *waiting;
};

/* The last reference is gone. A parcel that never arrived breaks the promise that waits for it. */
static void parcel_destroy(void *pointer) {
    struct parcel *parcel = pointer;
    vow_resolver_release(parcel->waiting);
    free(parcel);
}

/* Called once when a promise is resolved with a parcel. The resolver is ours from here on. */
static bool parcel_subscribe(void *pointer, vow_resolver *resolver) {
    struct parcel *parcel = pointer;
    if (parcel->returned) {
        vow_resolver_release(resolver);
        return false; /* no thenable after all */
    }
    if (parcel->content != NULL) {
        vow_resolve(resolver, vow_string(parcel->content, VOW_NUL_TERMINATED)); /* here already */
        vow_resolver_release(resolver);
    } else {
        parcel->waiting = resolver; /* later */
    }
    return true;
}

static const vow_class parcel_class = {
    .size = sizeof(vow_class),
    .name = "parcel",
    .destroy = parcel_destroy,
    .subscribe = parcel_subscribe,
};

/* A new parcel as a value (owned); *parcel stays readable for as long as the value lives. */
static vow_value parcel_send(const char *content, bool returned, struct parcel **parcel) {
    *parcel = calloc(1, sizeof **parcel);
    if (*parcel == NULL) {
        exit(1);
    }
    (*parcel)->content = content;
    (*parcel)->returned = returned;
    return vow_object(*parcel, &parcel_class);
}

static void parcel_arrive(struct parcel *parcel, const char *content) {
    parcel->content = content;
    vow_resolve(parcel->waiting, vow_string(content, VOW_NUL_TERMINATED));
    vow_resolver_release(parcel->waiting);
    parcel->waiting = NULL;
}

/* A handler that answers with a parcel: the chain goes on with what is in it. */
static vow_value order_book(vow_value input, void *context) {
    (void)input, (void)context;
    struct parcel *parcel;
    return parcel_send("a book", false, &parcel);
}

static vow_value unpack(vow_value content, void *context) {
    (void)context;
    printf("unpacking %s\n", vow_string_bytes(content, NULL));
    return vow_value_retain(content);
}

int main(void) {
    struct parcel *parcel;

    /* Still on its way: the promise stays pending until the parcel arrives. */
    vow_value value = parcel_send(NULL, false, &parcel);
    vow_promise *promise = vow_promise_with(vow_value_retain(value));
    printf("pending before: %s\n", vow_promise_state(promise) == VOW_PENDING ? "yes" : "no");
    parcel_arrive(parcel, "a teapot");
    show_result("after it arrived", promise);
    vow_value_release(value);

    /* Returned from a handler. */
    vow_promise *chain = vow_async(vow_executor_inline(), order_book, NULL);
    chain = vow_then(chain, unpack, NULL);
    show_result("from a handler", chain);

    /* Came back: the promise is fulfilled with the object itself. */
    value = wait_for(vow_promise_with(parcel_send(NULL, true, &parcel)));
    printf("came back: the very same parcel: %s\n",
           vow_object_pointer(value, &parcel_class) == parcel ? "yes" : "no");
    vow_value_release(value);
    return 0;
}
