// expect: copied, and these can only be moved: std::move(container)
#include <vow.hpp>

#include <memory>
#include <span>

void probe(std::span<std::unique_ptr<int>> owners) {
    vow::map(owners, [](std::unique_ptr<int>) {}).detach();
}
