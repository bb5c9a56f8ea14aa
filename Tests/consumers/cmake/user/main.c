/* main.c: waits for an answer of a library that is built on vow. */
#include <answers.h>
#include <stdio.h>

int main(void) {
    vow_value result;
    vow_promise *promise = answers_twice(21);
    int state = vow_await(promise, VOW_FOREVER, &result);
    vow_promise_release(promise);
    if (state != VOW_FULFILLED) {
        return 1;
    }
    printf("%lld, vow %s\n", (long long)result.as.integer, VOW_VERSION_STRING);
    return 0;
}
