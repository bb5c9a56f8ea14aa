// What the blocks of docs/cpp.md use and do not declare.
#ifndef VOW_CPP_GUIDE_HPP
#define VOW_CPP_GUIDE_HPP

#include <vow.hpp>

#include <cstdio>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

struct page {
    std::string text;
};
struct parse_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline vow::promise<page> fetch(const std::string &address) {
    return vow::fulfilled(page{address});
}
inline int count_words(const page &of) {
    return static_cast<int>(of.text.size());
}
inline void show(int) {
}

#endif
