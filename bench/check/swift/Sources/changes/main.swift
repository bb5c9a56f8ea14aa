// Runs a workload, measured by changes.c.

import Workloads

runFromCommandLine()
