/* Tests memory.c's way the scenes of what is quiet. */
#include "replay.h"
#include "scenes_quiet.h"

static const scene scenes[] = {SCENES_QUIET};
#define COUNT (sizeof scenes / sizeof scenes[0])

TEST("every scene of what is quiet leaves nothing behind") {
    play_all(scenes, COUNT);
}

TEST("every scene of what is quiet survives the failure of each single allocation") {
    play_every(scenes, COUNT, ONE_FAILURE);
}

TEST("every scene of what is quiet survives when from some allocation on all fail") {
    play_every(scenes, COUNT, FAILURES_FROM);
}

TEST("every scene of what is quiet survives failures at random") {
    play_random(scenes, COUNT, slowness() > 1 ? 10 : 1000);
}
