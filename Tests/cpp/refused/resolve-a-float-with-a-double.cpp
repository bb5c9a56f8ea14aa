// expect: this conversion may lose a part of the number: write static_cast if it may
#include <vow.hpp>

void probe(const vow::resolver<float> &r) {
    r.resolve(1e300);
}
