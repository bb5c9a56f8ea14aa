/* The three calls of bench/walk/run: prints a line "= NAME" for each, and the number of each
 * function that it enters. */
#include <stdio.h>
#include <vow.h>

static bool is_noting;
static int count, entered[10000];

void vow_walk_note(int function);
void vow_walk_note(int function) {
    if (is_noting && count < 10000) {
        entered[count++] = function;
    }
}

static void begin(void) {
    count = 0;
    is_noting = true;
}

static void end(const char *name, bool is_shown) {
    is_noting = false;
    for (int i = -1; is_shown && i < count; i++) {
        if (i < 0) {
            printf("= %s\n", name);
        } else {
            printf("%d\n", entered[i]);
        }
    }
}

static vow_value add_one(vow_value input, void *context) {
    (void)context;
    return vow_int(input.as.integer + 1);
}

static vow_executor *executor;

static vow_promise *link_to(vow_promise *promise) {
    vow_reaction reaction = {
        .size = sizeof reaction, .on_fulfilled = add_one, .executor = executor};
    return vow_then_with(promise, &reaction);
}

static void settle(bool is_shown) {
    vow_resolver *resolver = NULL;
    vow_promise *promise = vow_promise_create(&resolver);
    begin();
    promise = link_to(promise);
    end("then", is_shown);
    begin();
    vow_resolve(resolver, vow_int(41));
    end("resolve", is_shown);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

static void cancel(bool is_shown) {
    vow_resolver *resolver = NULL;
    vow_promise *promise = link_to(link_to(vow_promise_create(&resolver)));
    begin();
    vow_cancel(promise);
    end("cancel", is_shown);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

/* The first time of each fills what the thread keeps for later. */
int main(void) {
    executor = vow_executor_inline();
    for (int round = 0; round < 3; round++) {
        settle(round == 2);
    }
    for (int round = 0; round < 3; round++) {
        cancel(round == 2);
    }
    return 0;
}
