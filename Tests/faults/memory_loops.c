/* Tests memory.c's way the scenes of loops and time. */
#include "replay.h"
#include "scenes_loops.h"
#include "scenes_time.h"

static const scene scenes[] = {SCENES_LOOPS, SCENES_TIME};
#define COUNT (sizeof scenes / sizeof scenes[0])

TEST("every scene of loops and time leaves nothing behind") {
    play_all(scenes, COUNT);
}

TEST("every scene of loops and time survives the failure of each single allocation") {
    play_every(scenes, COUNT, ONE_FAILURE);
}

TEST("every scene of loops and time survives when from some allocation on all fail") {
    play_every(scenes, COUNT, FAILURES_FROM);
}

TEST("every scene of loops and time survives failures at random") {
    play_random(scenes, COUNT, slowness() > 1 ? 10 : 200);
}
