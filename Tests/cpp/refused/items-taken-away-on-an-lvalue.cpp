// expect: this handler takes the value away: call then on an rvalue
// errors: 1
#include <vow.hpp>

void probe(vow::promise<std::tuple<std::unique_ptr<int>, int>> p) {
    p.then([](std::unique_ptr<int>, int) {}).detach();
}
