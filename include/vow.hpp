/// vow.hpp: promises for C++17, on top of vow.h; with C++20 also coroutines.
///
/// Copyright 2026 the Vow authors. SPDX-License-Identifier: Apache-2.0
///
/// Header only: a program includes this and links libvow. Everything is in namespace vow, and
/// nothing is a macro. It needs exceptions. A promise<T> is a C promise: native() and adopt() lead
/// across, and C code reads numbers, strings and lists as what they are. docs/cpp.md is the guide.
#ifndef VOW_HPP
#define VOW_HPP

#include "vow/joining.hpp"
#include "vow/loop.hpp"
#include "vow/repetition.hpp"
#include "vow/runtime.hpp"
#include "vow/using.hpp"

#if defined(__cpp_impl_coroutine)
#include "vow/coroutine.hpp"
#endif

#endif
