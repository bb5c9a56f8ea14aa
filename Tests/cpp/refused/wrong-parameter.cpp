// expect: a handler takes the value as const T&, T or T&&, or takes nothing
#include <vow.hpp>

void probe(vow::promise<int> p) {
    p.then([](const std::string &) {}).detach();
}
