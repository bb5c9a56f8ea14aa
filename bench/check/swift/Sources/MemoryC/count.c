/* Stands before malloc. */
#include "../../../../count/count.c"
