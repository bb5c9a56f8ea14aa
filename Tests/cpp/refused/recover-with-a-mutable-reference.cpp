// expect: a handler takes the exception as const E& or E, or takes nothing
// errors: 1
#include <vow.hpp>

#include <stdexcept>

int main() {
    return vow::fulfilled(1).recover([](std::runtime_error &) { return 2; }).get();
}
