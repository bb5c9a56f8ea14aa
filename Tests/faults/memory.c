/* Tests every scene with all memory, and with each choice of failing allocations. */
#include "replay.h"
#include "scenes_adoption.h"
#include "scenes_chains.h"
#include "scenes_executors.h"
#include "scenes_values.h"

static const scene scenes[] = {SCENES_CHAINS, SCENES_ADOPTION, SCENES_VALUES, SCENES_EXECUTORS};
#define COUNT (sizeof scenes / sizeof scenes[0])

TEST("every scene leaves nothing behind") {
    play_all(scenes, COUNT);
}

TEST("every scene survives the failure of each single allocation") {
    play_every(scenes, COUNT, ONE_FAILURE);
}

TEST("every scene survives when from some allocation on all fail") {
    play_every(scenes, COUNT, FAILURES_FROM);
}

TEST("every scene survives failures at random") {
    play_random(scenes, COUNT, slowness() > 1 ? 20 : 1000);
}
