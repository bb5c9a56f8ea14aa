/* Tests memory.c's way the scenes that have dispatch queues of the program. */
#include "replay.h"
#include "scenes_queues.h"

static const scene scenes[] = {SCENES_QUEUES};
#define COUNT (sizeof scenes / sizeof scenes[0])

TEST("every scene on a dispatch queue leaves nothing behind") {
    play_all(scenes, COUNT);
}

TEST("every scene on a dispatch queue survives the failure of each single allocation") {
    play_every(scenes, COUNT, ONE_FAILURE);
}

TEST("every scene on a dispatch queue survives when from some allocation on all fail") {
    play_every(scenes, COUNT, FAILURES_FROM);
}

TEST("every scene on a dispatch queue survives failures at random") {
    play_random(scenes, COUNT, slowness() > 1 ? 20 : 1000);
}
