// expect: this is no value of the promise
#include <vow.hpp>

vow::promise<int> probe() {
    co_return std::string("text");
}
