// expect: a custom executor is a function that takes a vow::work
#include <vow.hpp>

void probe() {
    static_cast<void>(vow::custom_executor([](int) {}));
}
