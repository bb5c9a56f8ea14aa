/* Nothing: the program is linked with what stands beside. */
