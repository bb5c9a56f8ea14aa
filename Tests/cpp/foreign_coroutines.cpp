// Coroutines of other libraries: they await promises, and may be destroyed while they do.
#include "harness.hpp"

#if defined(__cpp_impl_coroutine)

namespace {

/// A coroutine that its owner may destroy at any time.
class task {
  public:
    struct promise_type {
        task get_return_object() {
            return task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept {
            return {};
        }
        std::suspend_always final_suspend() noexcept {
            return {};
        }
        void return_void() {
        }
        void unhandled_exception() {
            std::terminate();
        }
    };

    explicit task(std::coroutine_handle<promise_type> frame) : frame_(frame) {
    }
    task(task &&other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {
    }
    task &operator=(task &&) = delete;
    ~task() {
        if (frame_)
            frame_.destroy();
    }

  private:
    std::coroutine_handle<promise_type> frame_;
};

task awaits(vow::promise<int> p, std::atomic<int> &seen) {
    const tracked local;
    try {
        seen = co_await std::move(p);
    } catch (const vow::error &e) {
        seen = static_cast<int>(e.code());
    }
}
task goes_to(vow::executor there, std::atomic<int> &seen) {
    const tracked local;
    co_await vow::resume_on(there);
    seen = 1;
}

} // namespace

TEST("a coroutine that is destroyed while it awaits is not resumed, and gives up what it awaited") {
    std::atomic<int> seen{0};
    auto ends = vow::pending<int>();
    int told = 0;
    ends.resolver.on_cancel([&told] { told++; });
    {
        const task waiting = awaits(std::move(ends.promise), seen);
        CHECK_EQ(tracked::alive.load(), 1);
    }
    CHECK_EQ(tracked::alive.load(), 0);
    CHECK_EQ(told, 1);
    ends.resolver.resolve(1);
    CHECK_EQ(seen.load(), 0);
}

TEST("what others read, too, is left alone by one that is destroyed") {
    std::atomic<int> seen{0};
    auto ends = vow::pending<int>();
    { const task waiting = awaits(ends.promise, seen); }
    ends.resolver.resolve(3);
    CHECK_EQ(ends.promise.get(), 3);
    CHECK_EQ(seen.load(), 0);
}

TEST("one that is destroyed between the outcome and its own turn is not resumed") {
    const vow::loop loop;
    std::atomic<int> seen{0};
    auto ends = vow::pending<int>();
    {
        const task waiting = awaits(std::move(ends.promise), seen);
        const task going = goes_to(loop.executor(), seen);
        ends.resolver.resolve(1);
    }
    while (loop.run_once(0ms) > 0) {
    }
    CHECK_EQ(seen.load(), 0);
    const task through = awaits(vow::delay(1ms).then([] { return 7; }), seen);
    while (seen == 0)
        loop.run_once();
    CHECK_EQ(seen.load(), 7);
}

TEST("one whose loop has ended is told, also if it is destroyed by that") {
    std::atomic<int> seen{0};
    auto ends = vow::pending<int>();
    const auto waiting = [&] {
        const vow::loop loop;
        return awaits(std::move(ends.promise), seen);
    }();
    ends.resolver.resolve(1);
    CHECK_EQ(seen.load(), VOW_ESHUTDOWN);
}

#endif
