// Asio both ways.
#include "harness.hpp"

#include <vow/asio.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/thread_pool.hpp>
#include <asio/write.hpp>
#include <optional>

#if defined(ASIO_HAS_CO_AWAIT)
#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/use_awaitable.hpp>
#endif

namespace {

using stream = asio::local::stream_protocol::socket;

struct pair_of_streams {
    stream near, far;

    explicit pair_of_streams(asio::io_context &context) : near(context), far(context) {
        asio::local::connect_pair(near, far);
    }
};

/// Runs a context until a promise is settled.
template <class T> T run(asio::io_context &context, const vow::promise<T> &until) {
    const auto works = asio::make_work_guard(context);
    context.restart();
    until.settled([&](const vow::outcome<T> &) { context.stop(); }, vow::inline_executor())
        .detach();
    context.run();
    return until.get();
}

} // namespace

TEST("an operation of Asio's is a promise of what its handler gets") {
    asio::io_context context;
    pair_of_streams both(context);
    char text[6] = {};
    auto got = asio::async_read(both.near, asio::buffer(text, 5), vow::use_promise)
                   .then([&](std::size_t count) { return std::string(text, count); });
    const vow::promise<std::size_t> put =
        asio::async_write(both.far, asio::buffer("hello", 5), vow::use_promise);
    CHECK_EQ(run(context, got), "hello");
    CHECK_EQ(run(context, put), 5u);
    asio::steady_timer timer(context, 1ms);
    const vow::promise<void> later = timer.async_wait(vow::use_promise);
    run(context, later);
}

TEST("an operation of what use_promise is the default on is a promise without a token") {
    asio::io_context context;
    pair_of_streams both(context);
    auto near = vow::use_promise.as_default_on(std::move(both.near));
    char text[6] = {};
    const vow::promise<std::size_t> got = near.async_read_some(asio::buffer(text, 5));
    asio::write(both.far, asio::buffer("hello", 5));
    CHECK_EQ(run(context, got), 5u);
    vow::use_promise_t::as_default_on_t<asio::steady_timer> timer(context, 1h);
    auto late = timer.async_wait();
    CHECK(late.cancel());
    CHECK_THROWS(vow::cancelled, run(context, late));
    auto executor = vow::asio_executor(timer.get_executor());
    CHECK_EQ(run(context, vow::async(executor, [] { return 3; })), 3);
}

TEST("an error code of Asio's is thrown as a std::system_error") {
    asio::io_context context;
    pair_of_streams both(context);
    char text[5];
    const auto got = both.near.async_read_some(asio::buffer(text), vow::use_promise);
    both.far.close();
    try {
        run(context, got);
        CHECK(false);
    } catch (const std::system_error &problem) {
        CHECK(problem.code() == asio::error::eof);
    }
}

TEST("handlers of every shape settle a promise") {
    asio::io_context context;
    const auto complete = [&](auto signature, auto... values) {
        using wanted = decltype(signature);
        return asio::async_initiate<const vow::use_promise_t, typename wanted::type>(
            [&context](auto handler, auto... passed) {
                asio::post(context, [handler = std::move(handler), passed...]() mutable {
                    std::move(handler)(passed...);
                });
            },
            vow::use_promise, values...);
    };
    struct nothing {
        using type = void();
    };
    struct two {
        using type = void(int, std::string);
    };
    struct coded {
        using type = void(std::error_code, int, std::string);
    };
    struct thrown {
        using type = void(std::exception_ptr, int);
    };
    run(context, complete(nothing()));
    CHECK(run(context, complete(two(), 1, std::string("b"))) == std::tuple(1, std::string("b")));
    const auto none = std::error_code();
    CHECK(run(context, complete(coded(), none, 2, std::string("c"))) ==
          std::tuple(2, std::string("c")));
    CHECK_EQ(run(context, complete(thrown(), std::exception_ptr(), 3)), 3);
    const auto problem = std::make_exception_ptr(std::out_of_range("far"));
    CHECK_THROWS(std::out_of_range, run(context, complete(thrown(), problem, 3)));
}

TEST("a cancelled promise ends its operation, and settles when that has ended") {
    asio::io_context context;
    pair_of_streams both(context);
    auto text = std::make_unique<char[]>(5);
    const auto got = both.near.async_read_some(asio::buffer(text.get(), 5), vow::use_promise);
    CHECK(got.cancel());
    CHECK(!got.is_settled());
    CHECK_THROWS(vow::cancelled, run(context, got));
    text.reset();
    asio::write(both.far, asio::buffer("x", 1));
    char rest[1];
    CHECK_EQ(run(context, both.near.async_read_some(asio::buffer(rest), vow::use_promise)), 1u);
}

TEST("inside of its context, a promise that is cancelled has cancelled its operation at once") {
    asio::io_context context;
    asio::post(context, [&] {
        asio::steady_timer kept(context, 1h);
        const auto waits = kept.async_wait(vow::use_promise);
        CHECK(waits.cancel());
        CHECK_EQ(kept.cancel(), 0u);
        auto gone = std::make_unique<asio::steady_timer>(context, 1h);
        static_cast<void>(gone->async_wait(vow::use_promise));
        CHECK_EQ(gone->cancel(), 0u);
        gone.reset();
    });
    CHECK(context.run() > 0);
}

TEST("of an operation that cannot be begun nobody has to hear but its caller") {
    static std::atomic<int> reported{0};
    vow::on_unhandled([](std::exception_ptr) { reported++; });
    bool thrown = false;
    try {
        static_cast<void>(asio::async_initiate<const vow::use_promise_t, void(std::error_code)>(
            [](auto) { throw std::out_of_range("far"); }, vow::use_promise));
    } catch (const std::out_of_range &) {
        thrown = true;
    }
    vow::on_unhandled(nullptr);
    CHECK(thrown);
    CHECK_EQ(reported.load(), 0);
}

TEST("cancelling on other threads and the ends of operations do not disturb each other") {
    asio::thread_pool threads(2);
    const auto strand = asio::make_strand(threads);
    for (int round = 0; round < 300; round++) {
        asio::steady_timer timer(strand, std::chrono::microseconds(round));
        auto waits = timer.async_wait(vow::use_promise);
        auto cancels =
            vow::delay(std::chrono::microseconds(300 - round)).then([waits] { waits.cancel(); });
        waits.wait();
        cancels.get();
    }
    threads.join();
}

TEST("a promise that is dropped is cancelled: its operation ends") {
    asio::io_context context;
    asio::steady_timer timer(context, 1h);
    static_cast<void>(timer.async_wait(vow::use_promise));
    CHECK(context.run() > 0);
}

TEST("handlers run on a context, and what is attached there stays there") {
    asio::io_context context;
    const auto here = vow::asio_executor(context.get_executor());
    const auto thread = std::this_thread::get_id();
    auto both = vow::pending<int>();
    auto ran = both.promise.then(
        [&](int number) {
            CHECK(std::this_thread::get_id() == thread);
            return vow::fulfilled(number).then([&](int same) {
                CHECK(std::this_thread::get_id() == thread);
                return same + 1;
            });
        },
        here);
    std::thread other([resolver = both.resolver] { resolver.resolve(1); });
    CHECK_EQ(run(context, ran), 2);
    other.join();
}

TEST("a strand is a serial executor") {
    asio::thread_pool threads(2);
    const auto serial = vow::asio_executor(asio::make_strand(threads));
    std::vector<vow::promise<void>> all;
    int count = 0;
    for (int i = 0; i < 1000; i++)
        all.push_back(vow::fulfilled().then([&count] { count++; }, serial));
    vow::all(std::move(all)).get();
    CHECK_EQ(count, 1000);
    auto blocks =
        vow::fulfilled().then([serial] { vow::fulfilled().then([] {}, serial).get(); }, serial);
    CHECK_THROWS(vow::error, blocks.get());
    threads.join();
}

TEST("what is queued in a context that is destroyed runs there") {
    bool ran = false;
    {
        asio::io_context context;
        const auto here = vow::asio_executor(context.get_executor());
        vow::fulfilled().then([&ran] { ran = true; }, here).detach();
        CHECK(!ran);
    }
    CHECK(ran);
}

TEST("a promise is an operation of Asio's, whose handler runs on its executor") {
    asio::io_context context;
    auto both = vow::pending<int>();
    std::optional<int> got;
    const auto thread = std::this_thread::get_id();
    vow::async_get(both.promise,
                   asio::bind_executor(context, [&](std::exception_ptr problem, int number) {
                       CHECK(!problem && std::this_thread::get_id() == thread);
                       got = number;
                   }));
    std::thread other([resolver = both.resolver] { resolver.resolve(5); });
    context.run(); // the operation keeps it at work
    other.join();
    CHECK_EQ(got.value_or(0), 5);
    std::exception_ptr problem;
    context.restart();
    vow::async_get(vow::rejected<void>(std::out_of_range("far")),
                   asio::bind_executor(context, [&](std::exception_ptr p) { problem = p; }));
    context.run();
    CHECK_THROWS(std::out_of_range, std::rethrow_exception(problem));
}

TEST("an operation that waits for a promise and is cancelled cancels that") {
    asio::io_context context;
    asio::cancellation_signal signal;
    auto both = vow::pending<std::string>();
    std::exception_ptr problem;
    auto handler = [&](std::exception_ptr p, const std::string &) { problem = p; };
    vow::async_get(both.promise, asio::bind_cancellation_slot(
                                     signal.slot(), asio::bind_executor(context, handler)));
    signal.emit(asio::cancellation_type::terminal);
    context.run();
    CHECK(both.promise.is_settled());
    CHECK_THROWS(vow::cancelled, std::rethrow_exception(problem));
    signal.emit(asio::cancellation_type::terminal);
}

TEST("a value that can only be moved is moved to the handler") {
    asio::io_context context;
    int got = 0;
    vow::async_get(vow::fulfilled(std::make_unique<int>(3)),
                   asio::bind_executor(
                       context, [&](std::exception_ptr, std::unique_ptr<int> p) { got = *p; }));
    context.run();
    CHECK_EQ(got, 3);
}

#if defined(ASIO_HAS_CO_AWAIT)

TEST("a coroutine of Asio's awaits promises, and is one") {
    asio::io_context context;
    auto work = [](int number) -> asio::awaitable<int> {
        const int more =
            co_await vow::async_get(vow::delay(1ms).then([] { return 1; }), asio::use_awaitable);
        try {
            co_await vow::async_get(vow::rejected<int>(std::out_of_range("far")),
                                    asio::use_awaitable);
        } catch (const std::out_of_range &) {
            co_return number + more;
        }
        co_return 0;
    };
    CHECK_EQ(run(context, asio::co_spawn(context, work(3), vow::use_promise)), 4);
}

TEST("a coroutine of Asio's that loses a race cancels the promise that it awaits") {
    using namespace asio::experimental::awaitable_operators;
    asio::io_context context;
    auto both = vow::pending<void>();
    auto race = [&]() -> asio::awaitable<std::size_t> {
        asio::steady_timer timer(context, 1ms);
        const auto first = co_await (vow::async_get(both.promise, asio::use_awaitable) ||
                                     timer.async_wait(asio::use_awaitable));
        co_return first.index();
    };
    CHECK_EQ(run(context, asio::co_spawn(context, race(), vow::use_promise)), 1u);
    CHECK_THROWS(vow::cancelled, both.promise.get());
}

#endif

#if defined(__cpp_impl_coroutine)

TEST("a coroutine of ours awaits operations of Asio's") {
    asio::io_context context;
    pair_of_streams both(context);
    auto echo = [](stream &from, vow::executor here) -> vow::promise<std::string> {
        char text[5];
        co_await vow::resume_on(here);
        const std::size_t count =
            co_await asio::async_read(from, asio::buffer(text), vow::use_promise);
        co_return std::string(text, count);
    };
    auto got = echo(both.near, vow::asio_executor(context.get_executor()));
    asio::write(both.far, asio::buffer("hello", 5));
    CHECK_EQ(run(context, got), "hello");
}

#endif
