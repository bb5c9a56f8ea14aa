/* Tests that settling needs no memory to the end: also where what it makes ready is for the pool,
 * and the process has none left. */
#include "limited.h"

#define READERS 64

static atomic_int ran;

static vow_value count_run(vow_value input, void *context) {
    (void)context;
    atomic_fetch_add(&ran, 1);
    return vow_value_retain(input);
}

static void play(vow_executor *executor) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *readers[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i] = then_on(executor, vow_promise_retain(promise), count_run, NULL);
    }
    piece *pieces = take_all();
    CHECK(vow_resolve(resolver, vow_int(7)));
    for (int i = 0; i < READERS; i++) {
        CHECK_INT_EQ(vow_await(readers[i], VOW_FOREVER, NULL), VOW_FULFILLED);
    }
    CHECK_INT_EQ(atomic_load(&ran), READERS);
    give_all_back(pieces);
    for (int i = 0; i < READERS; i++) {
        vow_promise_release(readers[i]);
    }
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

static void play_pool(void) {
    play(vow_executor_pool());
}

static void play_serial(void) {
    vow_executor *serial = vow_executor_serial("without memory");
    play(serial);
    vow_executor_release(serial);
}

TEST("a promise that pool handlers read is settled, and they run, when malloc has nothing left") {
    goes_well("pool");
}

TEST("so it is with the handlers of a serial executor") {
    goes_well("serial");
}

static const limited_scene scenes[] = {{"pool", play_pool}, {"serial", play_serial}, {NULL, NULL}};

int main(int count, char **arguments) {
    return limited_main(count, arguments, scenes);
}
