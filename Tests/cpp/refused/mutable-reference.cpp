// expect: a handler takes the value as const T&, T or T&&, or takes nothing
#include <vow.hpp>

void probe(vow::promise<std::string> p) {
    p.then([](std::string &) {}).detach();
}
