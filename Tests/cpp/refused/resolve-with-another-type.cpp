// expect: this is no value of the promise
#include <vow.hpp>

void probe(const vow::resolver<int> &r) {
    r.resolve(std::string("text"));
}
