// expect: this value can only be moved: std::move(p).get(), or take()
// errors: 1
#include <vow.hpp>

void probe(const vow::value &v) {
    static_cast<void>(v.as<std::vector<std::unique_ptr<int>>>());
}
