// expect: vow: the destructor of a capture or a value threw an exception: from a destructor
#include "thrower.hpp"

int main() {
    vow::map(std::vector<int>{1}, [t = thrower()](int) {}).wait();
}
