/* One workload of the raw limits with another policy; see build. */
#include "raw.h"

const char *peer_version(void) {
    return "-";
}

const peer_workload peer_workloads[] = {
    {.name = "W8", .begin = begin_futexes, .prepare = reset_futexes, .pass = futex_round_trips},
    {.name = NULL},
};
