// expect: ignoring return
#include <vow.hpp>

void probe(vow::promise<int> p) {
    p.then([](int) {});
}
