// expect: vow: the submit function of an executor threw an exception: from a function
#include "thrower.hpp"

int main() {
    auto broken =
        vow::custom_executor([](vow::work) { throw std::runtime_error("from a function"); });
    vow::async(broken, [] {}).detach();
}
