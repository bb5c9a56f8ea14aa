// expect: an auto parameter, or overloads, do not say which exceptions this handler is for
// errors: 1
#include <vow.hpp>

int main() {
    return vow::fulfilled(1).recover([](const auto &e) { return e.what()[0]; }).get();
}
