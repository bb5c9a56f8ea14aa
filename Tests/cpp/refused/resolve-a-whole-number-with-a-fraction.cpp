// expect: this conversion may lose a part of the number: write static_cast if it may
#include <vow.hpp>

void probe(const vow::resolver<int> &r) {
    r.resolve(0.5);
}
