/* Hangs by design: of all that it waits for, one promise is never resolved. */
#include <pthread.h>
#include <unistd.h>
#include <vow.h>

vow_resolver *forgotten;

static vow_value parse(vow_value input, void *context) {
    (void)context;
    return input;
}

static vow_value report(vow_value input, void *context) {
    (void)context;
    return input;
}

static vow_promise *connect_socket(void) {
    vow_promise *socket = vow_promise_create(&forgotten);
    vow_promise_set_label(socket, "socket");
    return socket; /* nobody resolves it */
}

static vow_promise *login(void) {
    vow_promise *parsed = vow_then(connect_socket(), parse, NULL);
    vow_promise_set_label(parsed, "login");
    return parsed;
}

static vow_promise *outer(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_set_label(promise, "outer");
    vow_resolve(resolver, vow_from_promise(login()));
    vow_resolver_release(resolver);
    return promise;
}

static void *wait_beside(void *promise) {
    (void)vow_await(promise, VOW_FOREVER, NULL);
    return NULL;
}

int main(void) {
    vow_promise *members[3] = {outer(), vow_delay(3600LL * 1000000000),
                               vow_promise_with(vow_int(1))};
    vow_promise *all = vow_all(members, 3);
    vow_promise_set_label(all, "everything");
    vow_promise *last = vow_finally(all, report, NULL);

    pthread_t beside;
    pthread_create(&beside, NULL, wait_beside, vow_promise_retain(last));
    (void)!write(1, "waiting\n", 8);
    (void)vow_await(last, VOW_FOREVER, NULL);
    return 1;
}
