/* Takes instructions. */
#include "../../../instructions.c"
