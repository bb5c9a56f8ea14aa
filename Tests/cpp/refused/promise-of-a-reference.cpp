// expect: a promise carries a value: no reference, no const
#include <vow.hpp>

void probe(vow::promise<const std::string> p) {
    p.get();
}
