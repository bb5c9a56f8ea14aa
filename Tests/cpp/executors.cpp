// Where handlers run.
#include "harness.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace {
/// A thread with a queue, as programs have them.
class worker {
  public:
    worker() : thread_([this] { run(); }) {
    }
    ~worker() {
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            is_over_ = true;
        }
        condition_.notify_one();
        thread_.join();
    }
    void push(vow::work work) {
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            queue_.push_back(std::move(work));
        }
        condition_.notify_one();
    }
    std::thread::id id() const {
        return thread_.get_id();
    }

  private:
    void run() {
        std::unique_lock<std::mutex> guard(mutex_);
        while (true) {
            condition_.wait(guard, [this] { return is_over_ || !queue_.empty(); });
            if (queue_.empty())
                return;
            vow::work next = std::move(queue_.front());
            queue_.pop_front();
            guard.unlock();
            next();
            guard.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable condition_;
    std::deque<vow::work> queue_;
    bool is_over_ = false;
    std::thread thread_;
};
} // namespace

TEST("the inline executor runs a handler before the resolving call returns") {
    auto [p, r] = vow::pending<int>();
    int seen = 0;
    p.then([&](int x) { seen = x; }, vow::inline_executor()).detach();
    r.resolve(3);
    CHECK_EQ(seen, 3);
}

TEST("the pool runs handlers on other threads") {
    const auto here = std::this_thread::get_id();
    std::atomic<bool> elsewhere{false};
    auto p =
        vow::async(vow::pool_executor(), [&] { elsewhere = std::this_thread::get_id() != here; });
    CHECK(comes_true([&] { return p.is_settled(); }));
    CHECK(elsewhere);
}

TEST("a serial executor runs one handler at a time, in order") {
    const auto serial = vow::serial_executor("cpp");
    std::vector<int> order;
    std::vector<vow::promise<void>> all;
    for (int i = 0; i < 100; i++)
        all.push_back(vow::async(serial, [&order, i] { order.push_back(i); }));
    vow::all(std::move(all)).get();
    CHECK_EQ(order.size(), 100U);
    CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST("what a handler registers runs on its executor") {
    const auto serial = vow::serial_executor();
    CHECK(vow::async(serial, [&] {
              return vow::fulfilled().then([&] { return vow::current_executor() == serial; });
          }).get());
}

TEST("a custom executor is a lambda that keeps vow::work") {
    worker mine;
    const auto executor =
        vow::custom_serial_executor([&](vow::work work) { mine.push(std::move(work)); },
                                    [&] { return std::this_thread::get_id() == mine.id(); });
    CHECK(vow::async(executor, [&] { return std::this_thread::get_id() == mine.id(); }).get());
}

TEST("work that is dropped runs where it is dropped") {
    const auto executor = vow::custom_executor([](vow::work) {});
    CHECK_EQ(vow::async(executor, [] { return 3; }).get(), 3);
}

TEST("a custom executor's functions are destroyed when it and its work are gone") {
    {
        std::optional<vow::work> kept;
        vow::promise<int> p;
        {
            const auto executor = vow::custom_executor(
                [&kept, t = tracked()](vow::work work) { kept.emplace(std::move(work)); });
            p = vow::async(executor, [] { return 5; });
        }
        CHECK_EQ(tracked::alive.load(), 1);
        CHECK(kept && *kept);
        (*kept)();
        CHECK(!*kept);
        CHECK_EQ(p.get(), 5);
    }
    CHECK_EQ(tracked::alive.load(), 0);
}

TEST("the default executor is for handlers registered outside of handlers") {
    vow::set_default_executor(vow::inline_executor());
    bool ran = false;
    vow::fulfilled().then([&] { ran = true; }).detach();
    CHECK(ran);
    vow::set_default_executor({});
    CHECK(vow::current_executor() == vow::pool_executor());
}

TEST("wrong arguments of executors are thrown") {
    CHECK_THROWS(vow::error, vow::dispatch_executor(nullptr));
}
