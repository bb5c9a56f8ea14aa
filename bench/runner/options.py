"""The command line."""

import argparse


def names(text):
    """A list parted by commas."""
    return [name for name in text.split(",") if name]


def parse(arguments):
    """What was asked for; --quick sets what was not said otherwise."""
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 short rounds, no growth curves")
    parser.add_argument("--only", type=names, default=[], help="workloads, such as W1,W2")
    parser.add_argument("--peers", type=names, default=[], help="peers, such as vow,folly")
    parser.add_argument("--rounds", type=int, help="processes per peer, workload and size (5)")
    parser.add_argument("--seconds", type=float, help="how long each one measures (0.2)")
    parser.add_argument("--timeout", type=float, help="how long each one may take, in s (60)")
    parser.add_argument("--largest", type=int, help="the growth curves' last size; 0: none (10^7)")
    parser.add_argument("--out", default="build/bench", help="where programs and results go")
    parser.add_argument("--list", action="store_true", help="names workloads and peers, and ends")
    options = parser.parse_args(arguments)
    usual = (3, 0.05, 20, 0) if options.quick else (5, 0.2, 60, 10_000_000)
    for key, value in zip(("rounds", "seconds", "timeout", "largest"), usual):
        if getattr(options, key) is None:
            setattr(options, key, value)
    return options
