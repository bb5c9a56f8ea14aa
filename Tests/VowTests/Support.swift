// The base of the suites and its tools, for every file here.

@_exported import VowTestSupport
