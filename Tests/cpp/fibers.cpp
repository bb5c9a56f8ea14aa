// Fibers: waits that give the thread back, also among exceptions.
#include "harness.hpp"

#include <stdexcept>
#include <vector>

TEST("a fiber's promise has its result, its exception, or its promise's result") {
    CHECK_EQ(vow::fiber(vow::pool_executor(), [] { return 3; }).get(), 3);
    CHECK_EQ(vow::fiber([text = std::string("a text of some length")] { return text; }).get(),
             "a text of some length");
    CHECK_THROWS(std::logic_error, vow::fiber([]() -> int { throw std::logic_error("no"); }).get());
    vow::promise<int> later = vow::fiber(
        [t = tracked(4)]() mutable { return vow::delay(1ms).then([&t] { return t.number; }); });
    CHECK_EQ(later.get(), 4);
}

TEST("a fiber takes its token, its label and its stack") {
    vow::cancel_source source;
    vow::options options;
    options.token = source.token();
    options.label = "fiber";
    source.cancel();
    CHECK_THROWS(vow::cancelled, vow::fiber(options, [t = tracked()] { return 1; }).get());
    const auto fill = [] {
        volatile char room[1 << 20];
        for (std::size_t i = 0; i < sizeof room; i += 1024)
            room[i] = 1;
        return static_cast<int>(room[1024]);
    };
    CHECK_EQ(vow::fiber(vow::pool_executor(), fill, 2 << 20).get(), 1);
    CHECK_THROWS(vow::error, vow::fiber([t = tracked()] { return 1; }, std::size_t(2) << 30).get());
}

TEST("get, wait_for and run_until suspend a fiber, and the loop goes on") {
    auto loop = vow::loop::virtual_time();
    auto ends = vow::pending<std::string>();
    const auto &gate = ends.promise;
    std::string seen;
    const auto wait = [&](const char *name) {
        seen += name;
        if (gate.wait_for(1s) == vow::state::pending)
            seen += '-';
        try {
            gate.get(1s);
        } catch (const vow::timed_out &) {
            seen += '!';
        }
        loop.run_until(gate);
        seen += gate.get();
    };
    auto first = vow::fiber(loop.executor(), [&] { wait("a"); });
    auto second = vow::fiber(loop.executor(), [&] { wait("b"); });
    loop.run_until(vow::delay(3s));
    CHECK_EQ(seen, "ab--!!");
    ends.resolver.resolve("c");
    loop.run_until(vow::all(first, second));
    CHECK_EQ(seen, "ab--!!cc");
}

/// Throws and catches, and waits in both catch clauses and in a destructor during unwinding.
static int unwound(int number, const vow::promise<void> &gate) {
    struct waits {
        const vow::promise<void> &gate;
        ~waits() {
            if (std::uncaught_exceptions() == 1)
                gate.wait();
        }
    };
    try {
        const waits last{gate};
        throw number;
    } catch (int outer) {
        vow::delay(std::chrono::milliseconds(outer % 5)).get();
        try {
            throw std::to_string(outer);
        } catch (const std::string &inner) {
            vow::delay(std::chrono::milliseconds(outer % 3)).get();
            if (inner != std::to_string(outer))
                return -1;
        }
        vow::this_fiber::yield();
        try {
            throw;
        } catch (int again) {
            return std::uncaught_exceptions() == 0 ? again : -2;
        }
    }
}

TEST("fibers of one thread wait in catch clauses and destructors, each with its own exceptions") {
    auto loop = vow::loop::virtual_time();
    auto ends = vow::pending<void>();
    const auto &gate = ends.promise;
    std::vector<vow::promise<int>> all;
    for (int i = 0; i < 100; i++)
        all.push_back(vow::fiber(loop.executor(), [i, &gate] { return unwound(i, gate); }));
    auto rethrown = vow::fiber(loop.executor(), [&gate]() -> int {
        try {
            gate.get();
            throw std::logic_error("kept");
        } catch (...) {
            vow::delay(1s).get();
            throw;
        }
    });
    // A delay of a virtual loop ends when nothing else is left to do.
    loop.run_until(vow::delay(1h));
    CHECK(std::uncaught_exceptions() == 0 && std::current_exception() == nullptr);
    ends.resolver.resolve();
    auto sums = vow::all(all);
    loop.run_until(sums);
    int next = 0;
    for (const int number : sums.get())
        CHECK_EQ(number, next++);
    CHECK_THROWS(std::logic_error, (loop.run_until(rethrown), rethrown.get()));
}

TEST("handlers of a loop that wait in catch clauses have their own exceptions, too") {
    auto loop = vow::loop::virtual_time();
    std::vector<vow::promise<int>> all;
    for (int i = 0; i < 20; i++)
        all.push_back(vow::rejected<int>(std::out_of_range(std::to_string(i)))
                          .recover<std::out_of_range>([i](const std::out_of_range &caught) -> int {
                              vow::delay(std::chrono::seconds(i * 7 % 20)).get();
                              try {
                                  throw;
                              } catch (const std::out_of_range &again) {
                                  return &again == &caught ? i : -1;
                              }
                          }));
    int next = 0;
    for (const auto &each : all)
        CHECK_EQ(each.get(), next++);
}

TEST("a fiber that goes on on another thread has its exceptions there") {
    auto ends = vow::pending<void>();
    const auto &gate = ends.promise;
    std::vector<vow::promise<int>> all;
    for (int i = 0; i < 200; i++)
        all.push_back(vow::fiber(vow::pool_executor(), [i, &gate] { return unwound(i, gate); }));
    ends.resolver.resolve();
    int next = 0;
    for (const auto &each : all)
        CHECK_EQ(each.get(), next++);
}

TEST("a cancelled fiber's waits throw, but a scope in it waits for its members") {
    auto loop = vow::loop::virtual_time();
    auto ends = vow::pending<int>();
    const auto &never = ends.promise;
    std::string seen;
    auto fiber = vow::fiber(loop.executor(), [&] {
        const tracked local(7);
        vow::scope scope;
        // A member that cannot be stopped, and uses what stands before the scope.
        auto member = scope.async([&] {
            return vow::shield(vow::delay(1s)).then([&] { seen += std::to_string(local.number); });
        });
        scope.add(vow::shield(vow::delay(2s)).finally([&] { seen += 'm'; }));
        try {
            never.get();
        } catch (const vow::cancelled &) {
            seen += 'c';
        }
        CHECK(never.wait() == vow::state::rejected && !never.is_settled());
        vow::shield(vow::delay(1s)).get();
        seen += 's';
        return 1;
    });
    loop.run_once(0s);
    CHECK(fiber.cancel() && !fiber.is_settled());
    loop.run_until(fiber);
    CHECK_THROWS(vow::cancelled, fiber.get());
    CHECK_EQ(seen, "c7sm");
}

TEST("fibers that yield take turns, and no other code can yield") {
    auto loop = vow::loop::virtual_time();
    std::string seen;
    const auto turns = [&](char name) {
        for (int i = 0; i < 3; i++) {
            seen += name;
            vow::this_fiber::yield();
        }
    };
    auto first = vow::fiber(loop.executor(), [&] { turns('a'); });
    auto second = vow::fiber(loop.executor(), [&] { turns('b'); });
    loop.run_until(vow::all(first, second));
    CHECK_EQ(seen, "ababab");
    CHECK_THROWS(vow::error, vow::this_fiber::yield());
}
