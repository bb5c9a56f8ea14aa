/* Tests memory.c's way the scenes of cancellation and of a context that travels. */
#include "replay.h"
#include "scenes_cancellation.h"
#include "scenes_context.h"
#include "scenes_leaving.h"

static const scene scenes[] = {SCENES_CANCELLATION, SCENES_CONTEXT, SCENES_LEAVING};
#define COUNT (sizeof scenes / sizeof scenes[0])

TEST("every scene of cancellation leaves nothing behind") {
    play_all(scenes, COUNT);
}

TEST("every scene of cancellation survives the failure of each single allocation") {
    play_every(scenes, COUNT, ONE_FAILURE);
}

TEST("every scene of cancellation survives when from some allocation on all fail") {
    play_every(scenes, COUNT, FAILURES_FROM);
}

TEST("every scene of cancellation survives failures at random") {
    play_random(scenes, COUNT, slowness() > 1 ? 10 : 1000);
}
