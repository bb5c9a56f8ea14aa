# What differs for the C++ reference: it leads to the C one, and shows what explains itself, too.
@INCLUDE               = docs/reference/Doxyfile
PROJECT_BRIEF          = "Promises for C++"
FILTER_PATTERNS        = *.hpp=docs/reference/doxygen-filter
EXCLUDE_SYMBOLS        = *::detail detail *::detail::* *_HPP std std::*
EXTRACT_ALL            = YES
WARN_IF_UNDOCUMENTED   = NO
PREDEFINED             = __cpp_impl_coroutine=201902L
