// expect: this view has no end: take as many as are meant
#include <vow.hpp>

#include <ranges>

void probe() {
    vow::map(std::views::iota(0), [](int) {}).detach();
}
