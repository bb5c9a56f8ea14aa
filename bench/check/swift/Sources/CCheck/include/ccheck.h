/* For Swift: what a workload says while it runs. */
#include "../../../../check.h"
