// expect: the resource is release's, too
#include <vow.hpp>

void probe(vow::promise<std::unique_ptr<int>> p) {
    vow::use(
        std::move(p), [](std::unique_ptr<int>) {}, [](std::unique_ptr<int>) {})
        .detach();
}
