// Scenes of cancelling: which functions are called, with what, and what is gone when the promise
// settles.
#include "harness.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace {

/// What happened, in words: "f<5" f is called with 5; "f~" its captures are gone; "x!" the producer
/// of x is told;
/// "!cancelled" the outcome.
class journal {
  public:
    void add(const std::string &word) {
        const std::lock_guard<std::mutex> guard(lock_);
        text_ += text_.empty() ? word : " " + word;
    }
    [[nodiscard]] std::string text() {
        const std::lock_guard<std::mutex> guard(lock_);
        return text_;
    }

  private:
    std::mutex lock_;
    std::string text_;
};

/// A capture that says when it is gone; of copies and moved ones, the last.
std::shared_ptr<void> capture(journal &in, const std::string &name) {
    return {nullptr, [&in, name](void *) { in.add(name + "~"); }};
}

struct gate {
    std::atomic<bool> entered{false}, open{false};

    void pass() {
        entered = true;
        while (!open)
            std::this_thread::yield();
    }
    void reached() const {
        while (!entered)
            std::this_thread::yield();
    }
};

std::pair<vow::promise<int>, vow::resolver<int>> told(journal &in, const char *name) {
    auto [p, r] = vow::pending<int>();
    r.on_cancel([&in, name] { in.add(std::string(name) + "!"); });
    return {std::move(p), std::move(r)};
}

/// Sees the outcome of what is cancelled itself.
template <class T> vow::promise<void> seen(journal &in, const vow::promise<T> &p) {
    return p.settled(
        [&in](const vow::outcome<T> &outcome) {
            try {
                outcome.get();
                in.add("!value");
            } catch (const vow::cancelled &) {
                in.add("!cancelled");
            } catch (const vow::error &error) {
                in.add("!e" + std::to_string(error.code()));
            }
        },
        vow::inline_executor());
}

} // namespace

TEST("G14: then, cancelled while upstream is pending: its captures go before it settles") {
    for (const bool is_shared : {false, true}) {
        journal in;
        auto [x, r] = told(in, "x");
        const auto other = is_shared ? x : vow::promise<int>();
        auto p = std::move(x).then([c = capture(in, "f")](int) {}, vow::inline_executor());
        auto s = seen(in, p);
        CHECK(p.cancel());
        CHECK(!p.cancel());
        s.get();
        CHECK_EQ(in.text(), is_shared ? "f~ !cancelled" : "x! f~ !cancelled");
    }
}

TEST("G15: finally and recover are called with the cancellation, once") {
    for (const bool is_shared : {false, true}) {
        journal in;
        auto [x, r] = told(in, "x");
        const auto other = is_shared ? x : vow::promise<int>();
        auto p = std::move(x)
                     .recover(
                         [&in, c = capture(in, "r")](const vow::cancelled &) {
                             in.add("r<cancelled");
                             return 7;
                         },
                         vow::inline_executor())
                     .finally([&in, c = capture(in, "f")] { in.add("f<"); }, vow::inline_executor())
                     .then([c = capture(in, "t")](int) {}, vow::inline_executor());
        auto s = seen(in, p);
        CHECK(p.cancel());
        s.get();
        CHECK_EQ(in.text(), is_shared ? "r<cancelled r~ f< f~ t~ !cancelled"
                                      : "x! r<cancelled r~ f< f~ t~ !cancelled");
    }
}

TEST("G14: a function that runs returns first, and its captures go, before its promise is "
     "rejected") {
    for (const auto &where : {vow::pool_executor(), vow::serial_executor("quiet")}) {
        journal in;
        gate at;
        auto p = vow::fulfilled(5).then(
            [&, c = capture(in, "f")](int) {
                at.pass();
                in.add("f>");
            },
            where);
        auto s = seen(in, p);
        at.reached();
        CHECK(p.cancel());
        CHECK(!p.is_settled());
        at.open = true;
        s.get();
        CHECK_EQ(in.text(), "f> f~ !cancelled");
    }
}

TEST("captures live until the promise that the function returned is through, or is cancelled") {
    for (const bool is_cancelled : {false, true}) {
        journal in;
        auto [y, r] = told(in, "y");
        auto p = vow::fulfilled(5).then(
            [c = capture(in, "f"), p = std::move(y)](int) mutable { return std::move(p); },
            vow::inline_executor());
        auto s = seen(in, p);
        CHECK_EQ(in.text(), "");
        if (is_cancelled)
            CHECK(p.cancel());
        else
            r.resolve(1);
        s.get();
        CHECK_EQ(in.text(), is_cancelled ? "y! f~ !cancelled" : "f~ !value");
    }
}

TEST("G15: a finally in a time-out, in an all that fails, in a scope, with a token") {
    for (int way = 0; way < 4; way++) {
        journal in;
        auto [x, r] = told(in, "x");
        const vow::cancel_source source;
        vow::options where;
        where.executor = vow::inline_executor();
        if (way == 3)
            where.token = source.token();
        auto f = std::move(x).finally([&in, c = capture(in, "f")] { in.add("f<"); }, where);
        if (way == 0) {
            CHECK_THROWS(vow::timed_out, std::move(f).timeout(1ms).get());
            while (in.text() != "x! f< f~")
                std::this_thread::yield();
        } else if (way == 1) {
            auto all = vow::all(std::move(f), vow::rejected<int>(vow::error("test", 4, "no")));
            CHECK_THROWS(vow::error, all.get());
        } else if (way == 2) {
            vow::scope scope;
            CHECK(scope.add(std::move(f).as<void>()));
            scope.cancel();
            std::move(scope).close().get();
        } else {
            CHECK(source.cancel());
            CHECK_THROWS(vow::cancelled, f.get());
        }
        CHECK_EQ(in.text(), "x! f< f~");
    }
}

TEST("G14: a map that is cancelled settles when its calls have returned") {
    gate at;
    journal in;
    auto p = vow::map(
        std::vector<int>{1, 2, 3},
        [&](int n) {
            in.add("m<" + std::to_string(n));
            at.pass();
            in.add("m>");
        },
        1);
    auto s = seen(in, p);
    at.reached();
    CHECK(p.cancel());
    CHECK(!p.is_settled());
    at.open = true;
    s.get();
    CHECK_EQ(in.text(), "m<1 m> !cancelled");
}

TEST("G15: a finally is called exactly once, whoever is quicker") {
    std::atomic<int> called{0};
    const int rounds = 500;
    for (int i = 0; i < rounds; i++) {
        auto [x, r] = vow::pending<int>();
        auto p = std::move(x).finally([&called] { called++; },
                                      i % 2 ? vow::inline_executor() : vow::pool_executor());
        std::thread other([&p = p] { p.cancel(); });
        r.resolve(1);
        other.join();
        p.wait();
        CHECK_EQ(called.load(), i + 1);
    }
}
