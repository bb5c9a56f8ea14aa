/* Takes allocations and bytes. */
#define _GNU_SOURCE
#include "../../../memory.c"
