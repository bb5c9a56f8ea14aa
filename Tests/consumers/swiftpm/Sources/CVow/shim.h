/* shim.h: lets the module map name a header whose place pkg-config knows. */
#include <vow.h>
