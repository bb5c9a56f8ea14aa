/* gcd.h: includes libdispatch, whose Linux headers expect two words of clang that gcc 12 lacks. */
#ifndef EXAMPLES_GCD_H
#define EXAMPLES_GCD_H

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#ifndef __has_extension
#define __has_extension(x) 0
#endif

#include <dispatch/dispatch.h>

#endif
