// expect: this conversion may lose a part of the number: write static_cast if it may
#include <vow.hpp>

vow::promise<int> probe() {
    co_return 1ull << 40;
}
