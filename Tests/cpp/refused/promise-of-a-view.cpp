// expect: a promise outlives the characters: carry a std::string
#include <vow.hpp>

void probe(std::string_view text) {
    vow::fulfilled(text).detach();
}
