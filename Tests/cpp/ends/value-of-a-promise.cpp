// expect: vow: the destructor of a capture or a value threw an exception: from a destructor
#include "thrower.hpp"

int main() {
    vow::fulfilled(thrower()).wait();
}
