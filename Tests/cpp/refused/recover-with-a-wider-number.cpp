// expect: this conversion may lose a part of the number: write static_cast if it may
#include <vow.hpp>

void probe(vow::promise<int> p) {
    p.recover([](const std::exception &) { return 1e300; }).detach();
}
