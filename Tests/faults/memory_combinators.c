/* Tests memory.c's way the scenes of combinators. */
#include "replay.h"
#include "scenes_combinators.h"

static const scene scenes[] = {SCENES_COMBINATORS};
#define COUNT (sizeof scenes / sizeof scenes[0])

TEST("every scene of combinators leaves nothing behind") {
    play_all(scenes, COUNT);
}

TEST("every scene of combinators survives the failure of each single allocation") {
    play_every(scenes, COUNT, ONE_FAILURE);
}

TEST("every scene of combinators survives when from some allocation on all fail") {
    play_every(scenes, COUNT, FAILURES_FROM);
}

TEST("every scene of combinators survives failures at random") {
    play_random(scenes, COUNT, slowness() > 1 ? 10 : 200);
}
