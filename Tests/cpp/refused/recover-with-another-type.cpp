// expect: what this handler returns is no value of the promise
#include <vow.hpp>

void probe(vow::promise<int> p) {
    p.recover([](const std::exception &) { return std::string("text"); }).detach();
}
