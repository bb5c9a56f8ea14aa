// A plug-in whose own symbols are hidden; compiled by two compilers.
#include "plugin.hpp"

#include <vow.hpp>

#include <stdexcept>

namespace shared {
struct parcel {
    std::string text;
    int count = 0;
};
enum class color { red, green, blue };
} // namespace shared

namespace {

struct private_type {
    int number = 0;
};
const shared::parcel kept{"kept", 3};

template <class T> vow_promise *made(T content) {
    return vow::fulfilled(std::move(content)).release();
}
template <class T, class Check> int read(vow_promise *owned, Check check) {
    try {
        return check(vow::promise<T>::adopt(owned).get()) ? 0 : 2;
    } catch (const vow::error &error) {
        return error.is(vow::errc::invalid_argument) ? 1 : 3;
    } catch (...) {
        return 4;
    }
}
int read_failure(vow_promise *owned) {
    try {
        vow::promise<int>::adopt(owned).get();
    } catch (const std::logic_error &error) {
        return std::string_view(error.what()) == "from a plug-in" ? 0 : 2;
    } catch (...) {
    }
    return 3;
}

vow::promise<int> sum(vow::promise<std::string> text) {
    co_return static_cast<int>((co_await std::move(text)).size()) + co_await vow::fulfilled(1);
}
int use_rest() {
    const vow::executor own = vow::custom_executor([](vow::work work) { work(); });
    const vow::promise<int> six =
        vow::fulfilled(1).then([](int) { return sum(vow::fulfilled(std::string("fives"))); }, own);
    const std::error_code code = vow::errc::timed_out;
    return six.get() == 6 && code == std::errc::timed_out && code.category() == vow::category() ? 0
                                                                                                : 2;
}

const plugin_calls calls = {
    [] {
        return made(std::vector<int>{1, 2, 3});
    },
    [] {
        return made(shared::parcel{"sent", 2});
    },
    [] { return made(private_type{7}); },
    [] { return made(shared::color::blue); },
    [] { return made(&kept); },
    [] { return vow::rejected<int>(std::logic_error("from a plug-in")).release(); },
    [](vow_promise *p) {
        return read<std::vector<int>>(p, [](const auto &v) { return v.at(2) == 3; });
    },
    [](vow_promise *p) {
        return read<shared::parcel>(p, [](const auto &its) { return its.text == "sent"; });
    },
    [](vow_promise *p) {
        return read<private_type>(p, [](const auto &its) { return its.number == 7; });
    },
    [](vow_promise *p) {
        return read<shared::color>(p, [](auto its) { return its == shared::color::blue; });
    },
    [](vow_promise *p) {
        return read<const shared::parcel *>(p, [](auto its) { return its->count == 3; });
    },
    read_failure,
    use_rest,
};

} // namespace

extern "C" [[gnu::visibility("default")]] const plugin_calls *plugin() {
    return &calls;
}
