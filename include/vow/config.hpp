/// What the C++ face needs of the compiler.
#ifndef VOW_CONFIG_HPP
#define VOW_CONFIG_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "vow.hpp needs C++17"
#endif
#if !defined(__cpp_exceptions)
#error "vow.hpp needs exceptions: rejections are thrown"
#endif

#include "../vow.h"

#endif
