// expect: this value can only be moved: std::move(p).get()
#include <vow.hpp>

void probe(const vow::promise<std::unique_ptr<int>> &p) {
    p.get();
}
