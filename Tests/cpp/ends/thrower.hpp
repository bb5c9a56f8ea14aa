// What throws where nothing can catch.
#ifndef VOW_CPP_ENDS_THROWER_HPP
#define VOW_CPP_ENDS_THROWER_HPP

#include <vow.hpp>

#include <stdexcept>

struct thrower {
    bool throws = true;
    thrower() = default;
    thrower(thrower &&other) noexcept : throws(std::exchange(other.throws, false)) {
    }
    ~thrower() noexcept(false) {
        if (throws)
            throw std::runtime_error("from a destructor");
    }
};

#endif
