// expect: this value can only be moved: std::move(p).get()
// errors: 1
#include <vow.hpp>

void probe(const vow::promise<std::vector<std::unique_ptr<int>>> &p) {
    p.get();
}
