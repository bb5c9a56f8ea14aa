// boost.asio's thread_pool, with a thread for each processor.
#include "jobs.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <thread>

static boost::asio::thread_pool pool(std::thread::hardware_concurrency());

static void round_trips(size_t n) {
    expect_jobs(n);
    for (size_t i = 0; i < n; i++) {
        std::promise<void> ended;
        std::future<void> result = ended.get_future();
        boost::asio::post(pool, [ended = std::move(ended)]() mutable {
            count_job();
            ended.set_value();
        });
        result.get();
    }
    await_jobs();
}

static void spawn(size_t n) {
    for (size_t i = 0; i < n; i++) {
        boost::asio::post(pool, count_job);
    }
}

static void batch(size_t n) {
    expect_jobs(n);
    spawn(n);
    await_jobs();
}

static void inside(size_t n) {
    expect_jobs(n);
    boost::asio::post(pool, [n] { spawn(n); });
    await_jobs();
}

int main(int argc, char **argv) {
    static const workload workloads[] = {
        {"round-trip", round_trips}, {"batch", batch}, {"inside", inside}, {nullptr, nullptr}};
    return run_workload(argc, argv, workloads);
}
