// expect: vow: the destructor of a capture or a value threw an exception: from a destructor
#include "thrower.hpp"

int main() {
    vow::use(
        vow::fulfilled(1), [t = thrower()](int) {}, [](int) {})
        .wait();
}
