/* Tests memory.c's way the scenes that have dispatch queues of the program. */
#include "replay.h"
#include "scenes_queues.h"

EVERY_SCENE(queues, " on a dispatch queue", 20, 1000, SCENES_QUEUES)
