// expect: a condition stands for many codes: reject with a std::error_code
// errors: 1
#include <vow.hpp>

#include <system_error>

int main() {
    vow::rejected<int>(std::make_error_condition(std::errc::timed_out)).wait();
}
