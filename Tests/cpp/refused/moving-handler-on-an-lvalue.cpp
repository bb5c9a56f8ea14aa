// expect: this handler takes the value away: call then on an rvalue
#include <vow.hpp>

void probe(vow::promise<std::unique_ptr<int>> p) {
    p.then([](std::unique_ptr<int>) {}).detach();
}
