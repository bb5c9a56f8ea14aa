// Coroutines as handlers: what they capture and what they are called with live until they have
// ended.
#include "harness.hpp"

#include <stdexcept>
#include <vector>

#if defined(__cpp_impl_coroutine)

namespace {

const std::string long_text = "a text that is longer than what a string keeps inside";

/// A value that shows by its content that it has been destroyed.
struct witness : tracked {
    std::vector<int> content = std::vector<int>(64, 7);

    using tracked::tracked;
    witness(const witness &) = default;
    witness(witness &&) = default;
    ~witness() {
        content.assign(content.size(), -1);
    }
    [[nodiscard]] bool lives() const {
        return content.size() == 64 && content[63] == 7;
    }
};

} // namespace

TEST("a coroutine handler has its captures after a suspension, small and large") {
    const std::string text = long_text;
    const std::string *const at = &text;
    for (int i = 0; i < 3; i++) {
        auto large =
            vow::fulfilled(1).then([text, seen = witness(3)](int n) -> vow::promise<std::size_t> {
                co_await vow::delay(1ms);
                co_return seen.lives() ? text.size() + static_cast<std::size_t>(n) : 0;
            });
        auto small = vow::fulfilled(1).then([at](int n) -> vow::promise<std::size_t> {
            co_await vow::delay(1ms);
            co_return at->size() + static_cast<std::size_t>(n);
        });
        CHECK_EQ(large.get(), long_text.size() + 1);
        CHECK_EQ(small.get(), long_text.size() + 1);
        auto settled = vow::fulfilled(1).settled(
            [at](const vow::outcome<int> &outcome) -> vow::promise<std::size_t> {
                co_await vow::delay(1ms);
                co_return at->size() + static_cast<std::size_t>(outcome.get());
            });
        CHECK_EQ(settled.get(), long_text.size() + 1);
        std::size_t size = 0;
        std::size_t *const to = &size;
        struct both {
            const std::string *from;
            std::size_t *into;
        };
        const both pair{at, to};
        const both *const pointer = &pair;
        vow::fulfilled(1)
            .finally([pointer]() -> vow::promise<void> {
                co_await vow::delay(1ms);
                *pointer->into = pointer->from->size();
            })
            .get();
        CHECK_EQ(size, long_text.size());
        vow::scope scope;
        auto member = scope.async([at]() -> vow::promise<std::size_t> {
            co_await vow::delay(1ms);
            co_return at->size();
        });
        CHECK_EQ(member.get(), long_text.size());
    }
}

TEST(
    "a coroutine handler has the value that it was called with, by reference, after a suspension") {
    auto object = vow::fulfilled(1)
                      .then([](int) { return witness(5); })
                      .then([](const witness &value) -> vow::promise<bool> {
                          co_await vow::delay(1ms);
                          co_return value.lives() && value.number == 5;
                      });
    CHECK(object.get());
    auto string =
        vow::fulfilled(long_text).then([](const std::string &value) -> vow::promise<std::size_t> {
            co_await vow::delay(1ms);
            co_return value.size() + static_cast<std::size_t>(value[0] == 'a');
        });
    CHECK_EQ(string.get(), long_text.size() + 1);
    auto viewed = vow::fulfilled(long_text).then([](std::string_view value) -> vow::promise<bool> {
        co_await vow::delay(1ms);
        co_return value == long_text;
    });
    CHECK(viewed.get());
    auto number = vow::fulfilled(7).then([](const auto &value) -> vow::promise<int> {
        co_await vow::delay(1ms);
        co_return value;
    });
    CHECK_EQ(number.get(), 7);
    auto moved = vow::fulfilled(std::make_unique<int>(3))
                     .then([](std::unique_ptr<int> &&value) -> vow::promise<int> {
                         co_await vow::delay(1ms);
                         co_return *value;
                     });
    CHECK_EQ(moved.get(), 3);
    auto items = vow::all(vow::fulfilled(long_text), vow::fulfilled(witness(1)))
                     .then([](const std::string &text, const witness &value) -> vow::promise<bool> {
                         co_await vow::delay(1ms);
                         co_return text == long_text &&value.lives();
                     });
    CHECK(items.get());
    auto list = vow::all(std::vector<vow::promise<std::string>>(3, vow::fulfilled(long_text)))
                    .then([](const std::vector<std::string> &all) -> vow::promise<bool> {
                        co_await vow::delay(1ms);
                        co_return all.size() == 3 && all[2] == long_text;
                    });
    CHECK(list.get());
}

TEST("map, reduce, repeat and use keep what a coroutine was called with, too") {
    auto mapped = vow::map(std::vector<std::string>{long_text, long_text + "!"},
                           [](const std::string &item) -> vow::promise<std::size_t> {
                               co_await vow::delay(1ms);
                               co_return item.size() + static_cast<std::size_t>(item[0] == 'a');
                           });
    CHECK(mapped.get() == std::vector<std::size_t>({long_text.size() + 1, long_text.size() + 2}));
    std::vector<vow::promise<std::string>> texts(2, vow::fulfilled(long_text));
    auto reduced = vow::reduce(
        std::move(texts), std::string(),
        [](const std::string &sum, const std::string &item) -> vow::promise<std::string> {
            co_await vow::delay(1ms);
            co_return sum + item;
        });
    CHECK_EQ(reduced.get(), long_text + long_text);
    auto repeated = vow::repeat(
        long_text, [](const std::string &text) { return text.size() < long_text.size() + 3; },
        [](const std::string &text) -> vow::promise<std::string> {
            co_await vow::delay(1ms);
            co_return text + "!";
        });
    CHECK_EQ(repeated.get(), long_text + "!!!");
    std::string released;
    auto used = vow::use(
        vow::fulfilled(long_text),
        [](const std::string &resource) -> vow::promise<std::size_t> {
            co_await vow::delay(1ms);
            co_return resource.size();
        },
        [&released](const std::string &resource) -> vow::promise<void> {
            co_await vow::delay(1ms);
            released = resource;
        });
    CHECK_EQ(used.get(), long_text.size());
    CHECK_EQ(released, long_text);
}

TEST("what a coroutine handler has is gone before its promise settles, also when that is "
     "cancelled") {
    for (const bool cancels : {false, true}) {
        auto p = vow::fulfilled(witness(5))
                     .then(
                         [seen = witness(3)](const witness &value) -> vow::promise<bool> {
                             co_await vow::delay(20ms);
                             co_return value.lives() && seen.lives();
                         },
                         vow::inline_executor());
        if (cancels) {
            CHECK(p.cancel());
            CHECK_THROWS(vow::cancelled, p.get());
        } else {
            CHECK(p.get());
        }
        CHECK_EQ(tracked::alive.load(), 0);
    }
}

TEST("a recursion through handlers that are no coroutines keeps nothing of them") {
    static std::uint64_t live = 0;
    struct counting {
        int *left;
        vow::promise<int> down(int n) const {
            const counting *self = this;
            return vow::fulfilled(std::to_string(n))
                .then(
                    [self](const std::string &text) {
                        live = vow::statistics().live;
                        if (--*self->left == 0)
                            return vow::fulfilled(std::stoi(text));
                        return self->down(std::stoi(text) + 1);
                    },
                    vow::inline_executor());
        }
    };
    int left = 20000;
    const counting from{&left};
    const auto before = vow::statistics().live;
    auto p = from.down(1);
    CHECK_EQ(p.get(), 20000);
    CHECK(live - before < 10);
}

#endif
