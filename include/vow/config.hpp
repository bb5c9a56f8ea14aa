/// What the C++ face needs of the compiler.
///
/// All names are in the inline namespace vow::v1, which programs need not know of: should types and
/// functions of these headers ever change what they are in memory, it becomes v2, and a program
/// built with the old headers and a plug-in built with the new ones have nothing of one name that
/// is not the same.
#ifndef VOW_CONFIG_HPP
#define VOW_CONFIG_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "vow.hpp needs C++17"
#endif
#if !defined(__cpp_exceptions)
#error "vow.hpp needs exceptions: rejections are thrown"
#endif

#include "../vow.h"

/// A variable that each shared object has one of, or the function that a static one is in. Shown to
/// others, g++ would make it unique in the process, and its shared object could not be unloaded.
#define VOW_OF_EACH_OBJECT __attribute__((visibility("hidden")))

/// What shared objects that see each other's symbols have one of. As `inline` it would be unique.
#define VOW_SHARED_BY_OBJECTS __attribute__((weak, visibility("default")))

#endif
