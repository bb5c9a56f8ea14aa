// Coroutines that one failing `all` cancels, in ns each: to begin and wait, for the failure to tell
// all of them, and until the last frame has ended. bench/cpp/run builds and runs it.

#include <vow.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using moment = std::chrono::steady_clock::time_point;

std::atomic<int> living;

struct counted {
    counted() {
        ++living;
    }
    ~counted() {
        --living;
    }
    counted(const counted &) = delete;
    counted &operator=(const counted &) = delete;
};

vow::promise<int> wait_for(vow::promise<int> gate) {
    const counted frame;
    co_return co_await gate;
}

double each(moment begin, moment end, int count) {
    return std::chrono::duration<double, std::nano>(end - begin).count() / count;
}

void cancel_all(int count) {
    auto [gate, closed] = vow::pending<int>();
    auto [failing, fails] = vow::pending<int>();
    const moment begin = std::chrono::steady_clock::now();
    std::vector<vow::promise<int>> members;
    members.reserve(static_cast<std::size_t>(count) + 1);
    for (int i = 0; i < count; i++)
        members.push_back(wait_for(gate));
    members.push_back(std::move(failing));
    auto all = vow::all(std::move(members));
    const moment waiting = std::chrono::steady_clock::now();
    fails.reject(std::runtime_error("the last member"));
    const moment told = std::chrono::steady_clock::now();
    while (living > 0)
        std::this_thread::yield();
    const moment ended = std::chrono::steady_clock::now();
    std::printf("%8d coroutines: begun in %5.0f ns each, told in %5.0f, ended in %5.0f\n", count,
                each(begin, waiting, count), each(waiting, told, count),
                each(waiting, ended, count));
    if (all.state() != vow::state::rejected)
        std::exit(1);
    (void)all.peek();
}

} // namespace

int main() {
    for (const int count : {10000, 20000, 50000, 100000, 200000})
        for (int round = 0; round < 3; round++)
            cancel_all(count);
}
