// app.cpp: the same from C++, with a lambda as the handler.
#include <cstdio>
#include <vow.h>

int main() {
    vow_promise *promise = vow_then(
        vow_promise_with(vow_int(21)),
        [](vow_value input, void *) { return vow_int(2 * input.as.integer); }, nullptr);
    vow_value result;
    int state = vow_await(promise, VOW_FOREVER, &result);
    vow_promise_release(promise);
    std::printf("%lld, vow %s\n", static_cast<long long>(result.as.integer), VOW_VERSION_STRING);
    return state == VOW_FULFILLED ? 0 : 1;
}
