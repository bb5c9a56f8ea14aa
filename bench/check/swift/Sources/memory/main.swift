// Runs a workload, measured by memory.c.

import Workloads

runFromCommandLine()
