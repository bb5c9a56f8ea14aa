/* Tests memory.c's way the scenes of progress and tracing. */
#include "replay.h"
#include "scenes_watching.h"

static const scene scenes[] = {SCENES_WATCHING};
#define COUNT (sizeof scenes / sizeof scenes[0])

TEST("every scene of progress and tracing leaves nothing behind") {
    play_all(scenes, COUNT);
}

TEST("every scene of progress and tracing survives the failure of each single allocation") {
    play_every(scenes, COUNT, ONE_FAILURE);
}

TEST("every scene of progress and tracing survives when from some allocation on all fail") {
    play_every(scenes, COUNT, FAILURES_FROM);
}

TEST("every scene of progress and tracing survives failures at random") {
    play_random(scenes, COUNT, slowness() > 1 ? 5 : 200);
}
