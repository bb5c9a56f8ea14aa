/* Tests every scene with all memory, and with each choice of failing allocations. */
#include "replay.h"
#include "scenes_adoption.h"
#include "scenes_cancellation.h"
#include "scenes_chains.h"
#include "scenes_combinators.h"
#include "scenes_context.h"
#include "scenes_executors.h"
#include "scenes_fibers.h"
#include "scenes_leaving.h"
#include "scenes_loops.h"
#include "scenes_quiet.h"
#include "scenes_time.h"
#include "scenes_values.h"
#include "scenes_watching.h"

EVERY_SCENE(promises, " of promises", 20, 1000, SCENES_CHAINS, SCENES_ADOPTION, SCENES_VALUES,
            SCENES_EXECUTORS)
EVERY_SCENE(cancellation, " of cancellation", 10, 1000, SCENES_CANCELLATION, SCENES_CONTEXT,
            SCENES_LEAVING)
EVERY_SCENE(combinators, " of combinators", 10, 1000, SCENES_COMBINATORS)
EVERY_SCENE(fibers, " of fibers", 10, 1000, SCENES_FIBERS)
EVERY_SCENE(loops, " of loops and time", 10, 1000, SCENES_LOOPS, SCENES_TIME)
EVERY_SCENE(quiet, " of what is quiet", 10, 1000, SCENES_QUIET)
EVERY_SCENE(watching, " of progress and tracing", 5, 200, SCENES_WATCHING)
