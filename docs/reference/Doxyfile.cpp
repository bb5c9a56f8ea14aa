# The reference of vow.hpp. What explains itself is shown without a comment.
@INCLUDE               = docs/reference/Doxyfile
PROJECT_BRIEF          = "Promises for C++"
INPUT                  = include/vow.hpp include/vow
FILTER_PATTERNS        =
HTML_OUTPUT            = reference-cpp
GENERATE_MAN           = NO
OPTIMIZE_OUTPUT_FOR_C  = NO
EXCLUDE_SYMBOLS        = *::detail detail *::detail::* *_HPP std std::*
EXTRACT_ALL            = YES
PREDEFINED            += __cpp_impl_coroutine=201902L
