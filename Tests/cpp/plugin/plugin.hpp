// What two shared objects know of each other: a type of values, and one of exceptions.
#ifndef VOW_CPP_PLUGIN_HPP
#define VOW_CPP_PLUGIN_HPP

#include <vow.hpp>

#include <stdexcept>

struct [[gnu::visibility("default")]] parcel {
    std::string text;
};
struct [[gnu::visibility("default")]] plugin_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[gnu::visibility("default")]] vow::promise<parcel> send(std::string text);
[[gnu::visibility("default")]] vow::promise<parcel> fail();
[[gnu::visibility("default")]] vow::promise<parcel> cancel();
[[gnu::visibility("default")]] std::string read(const vow::promise<parcel> &sent);

#endif
