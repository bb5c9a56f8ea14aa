// expect: vow: a function that is called on cancellation threw an exception: from a function
#include "thrower.hpp"

int main() {
    vow::cancel_source source;
    source.token().on_cancel([] { throw std::runtime_error("from a function"); });
    source.cancel();
}
