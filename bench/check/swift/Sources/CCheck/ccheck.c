/* A target needs a source; what the header declares is in the measures. */
#include "ccheck.h"
