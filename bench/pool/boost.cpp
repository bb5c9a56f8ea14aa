// boost.asio's thread_pool, with a thread for each processor.
#include "jobs.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <thread>

static boost::asio::thread_pool pool(std::thread::hardware_concurrency());

static void hand_over() {
    boost::asio::post(pool, count_job);
}

static void hand_over_spawn(size_t n) {
    boost::asio::post(pool, [n] { spawn(n); });
}

static void round_trip() {
    std::promise<void> ended;
    std::future<void> result = ended.get_future();
    boost::asio::post(pool, [ended = std::move(ended)]() mutable {
        count_job();
        ended.set_value();
    });
    result.get();
}

int main(int argc, char **argv) {
    static const workload workloads[] = {PASSES, {nullptr, nullptr}};
    return run_workload(argc, argv, workloads);
}
