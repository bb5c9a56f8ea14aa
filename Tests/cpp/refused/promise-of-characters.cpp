// expect: a promise outlives the characters: carry a std::string
#include <vow.hpp>

void probe() {
    vow::fulfilled("text").detach();
}
