// expect: these promises are of different types
#include <vow.hpp>

void probe(vow::promise<int> p, vow::promise<std::string> q) {
    vow::race(p, q).detach();
}
