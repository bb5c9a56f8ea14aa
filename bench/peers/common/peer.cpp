// The main function of every peer in C and C++: runs one workload under Google Benchmark, counts
// what it allocates, and prints the protocol's line (bench/README.md).

#include "peer.h"

#include "../../count/count.h"

#include <benchmark/benchmark.h>

#include <cinttypes>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#pragma weak bench_count_read

namespace {

struct Outcome {
    double nanoseconds = 0;
    double allocations = -1, bytes = -1, resident = -1;
};

double seconds() {
    const char *text = getenv("BENCH_SECONDS");
    double asked = text != nullptr ? atof(text) : 0.2;
    return asked > 0.001 ? asked : 0.001; // Google Benchmark refuses 0
}

bool counting() {
    const char *text = getenv("BENCH_COUNT");
    return text != nullptr && strcmp(text, "1") == 0 && bench_count_read != nullptr;
}

double residentBytes() {
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0, all = 0;
    peer_expect(file != nullptr && fscanf(file, "%ld %ld", &all, &pages) == 2, "statm");
    fclose(file);
    return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void call(void (*step)(size_t), size_t n) {
    if (step != nullptr) {
        step(n);
    }
}

/* Takes the time of the last report: the median where there are repetitions. */
class Reporter : public benchmark::BenchmarkReporter {
  public:
    explicit Reporter(Outcome &outcome) : outcome(outcome) {
    }
    bool ReportContext(const Context &) override {
        return true;
    }
    void ReportRuns(const std::vector<Run> &runs) override {
        for (const Run &run : runs) {
            bool median = run.run_type == Run::RT_Aggregate && run.aggregate_name == "median";
            bool single = run.run_type == Run::RT_Iteration && run.repetitions == 1;
            if (median || single) {
                outcome.nanoseconds = run.GetAdjustedRealTime();
            }
        }
    }

  private:
    Outcome &outcome;
};

/* The passes that Google Benchmark asks for. */
void passes(benchmark::State &state, const peer_workload &workload, size_t n, Outcome &outcome) {
    bool counts = counting();
    bool hasSteps = workload.prepare != nullptr || workload.clean != nullptr;
    uint64_t allocations = 0, bytes = 0, done = 0;
    for (auto _ : state) {
        if (hasSteps) {
            state.PauseTiming();
            call(workload.prepare, n);
            state.ResumeTiming();
        }
        bench_counts before = counts ? bench_count_read() : bench_counts{};
        workload.pass(n);
        if (counts) {
            bench_counts after = bench_count_read();
            allocations += after.allocations - before.allocations;
            bytes += after.bytes - before.bytes;
            done += n;
        }
        if (hasSteps) {
            state.PauseTiming();
            call(workload.clean, n);
            state.ResumeTiming();
        }
    }
    if (counts) {
        outcome.allocations = static_cast<double>(allocations) / static_cast<double>(done);
        outcome.bytes = static_cast<double>(bytes) / static_cast<double>(done);
    }
}

/* One pass, and what its promises hold while they are pending. */
void held(benchmark::State &state, const peer_workload &workload, size_t n, Outcome &outcome) {
    bool counts = counting();
    for (auto _ : state) {
        double resident = residentBytes();
        bench_counts before = counts ? bench_count_read() : bench_counts{};
        workload.pass(n);
        double items = static_cast<double>(n);
        if (counts) {
            bench_counts after = bench_count_read();
            outcome.allocations =
                static_cast<double>(after.allocations - before.allocations) / items;
            outcome.bytes = static_cast<double>(after.live - before.live) / items;
        }
        outcome.resident = (residentBytes() - resident) / items;
    }
    call(workload.clean, n);
}

Outcome run(const peer_workload &workload, size_t n) {
    Outcome outcome;
    call(workload.begin, n);
    if (!workload.held) {
        call(workload.prepare, n);
        workload.pass(n); // to warm up
        call(workload.clean, n);
    }
    auto body = workload.held ? held : passes;
    auto *registered = benchmark::RegisterBenchmark(
        workload.name, [&](benchmark::State &state) { body(state, workload, n, outcome); });
    registered->UseRealTime();
    if (workload.held) {
        registered->Iterations(1);
    } else if (counting()) {
        registered->Iterations(3);
    } else if (n > 100000) {
        registered->MinTime(seconds());
    } else {
        registered->Repetitions(3)->MinTime(seconds() / 3);
    }
    Reporter reporter(outcome);
    benchmark::RunSpecifiedBenchmarks(&reporter);
    return outcome;
}

std::string quoted(const char *text) {
    std::string result = "\"";
    for (; *text != 0; ++text) {
        if (*text == '"' || *text == '\\') {
            result += '\\';
        }
        result += *text;
    }
    return result + '"';
}

void number(const char *key, double value) {
    if (value >= 0) {
        printf(",\"%s\":%.4g", key, value);
    }
}

double peakResidentBytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

void print(const char *name, size_t n, const Outcome *outcome) {
    printf("{\"workload\":\"%s\",\"n\":%zu", name, n);
    if (outcome == nullptr) {
        printf(",\"unsupported\":\"not offered\"");
    } else {
        printf(",\"ns_per_item\":%.6g", outcome->nanoseconds / static_cast<double>(n));
        number("allocations_per_item", outcome->allocations);
        number("bytes_per_item", outcome->bytes);
        number("resident_per_item", outcome->resident);
        number("peak_resident", peakResidentBytes());
    }
    printf(",\"harness\":\"Google Benchmark\",\"compiler\":%s,\"flags\":%s,\"version\":%s}\n",
           quoted(PEER_COMPILER).c_str(), quoted(PEER_FLAGS).c_str(),
           quoted(peer_version()).c_str());
}

} // namespace

extern "C" void *peer_array(size_t count, size_t size) {
    void *array = malloc(count * size);
    peer_expect(array != nullptr, "out of memory");
    return memset(array, 0, count * size);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s WORKLOAD N\n", argv[0]);
        return 2;
    }
    size_t n = strtoull(argv[2], nullptr, 10);
    for (const peer_workload *each = peer_workloads; each->name != nullptr; ++each) {
        if (strcmp(each->name, argv[1]) == 0) {
            Outcome outcome = run(*each, n);
            print(each->name, n, &outcome);
            fflush(stdout);
            _exit(0); // libraries' threads may still be there; the system takes the rest back
        }
    }
    print(argv[1], n, nullptr);
    return 0;
}
