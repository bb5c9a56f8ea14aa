// Runs a workload, measured by instructions.c.

import Workloads

runFromCommandLine()
