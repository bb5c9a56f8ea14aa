// expect: this value can only be moved: co_await std::move(p)
// errors: 1
#include <vow.hpp>

vow::promise<void> probe(vow::promise<std::vector<std::unique_ptr<int>>> p) {
    co_await p;
}
