// A chain in C++: lambdas, values of any type, exceptions that come back as themselves.
#include <vow.hpp>

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

struct order {
    std::string item;
    int count;
};

struct out_of_stock : std::runtime_error {
    explicit out_of_stock(int still) : std::runtime_error("out of stock"), left(still) {
    }
    int left;
};

// A callback API as a promise: the resolver travels in the lambda.
vow::promise<int> stock_of(const std::string &item) {
    return vow::make_promise<int>([&](vow::resolver<int> resolver) {
        const int left = item == "lamp" ? 3 : 20;
        vow::delay(1ms).then([=] { resolver.resolve(left); }).detach();
    });
}

vow::promise<std::string> place(order wanted) {
    return stock_of(wanted.item)
        .then([wanted](int left) {
            if (left < wanted.count)
                throw out_of_stock(left);
            return order(wanted);
        })
        .then([](const order &accepted) {
            return std::to_string(accepted.count) + " x " + accepted.item;
        });
}

} // namespace

int main() {
    std::cout << place({"chair", 4}).get() << "\n";

    // Reads like a catch clause: only for out_of_stock, whose member is there.
    std::cout << place({"lamp", 5})
                     .recover([](const out_of_stock &e) {
                         return "only " + std::to_string(e.left) + " lamps";
                     })
                     .get()
              << "\n";

    // Different types together, and each in its place.
    vow::all(place({"table", 1}), stock_of("lamp"))
        .then([](const std::string &ordered, int lamps) {
            std::cout << ordered << ", and " << lamps << " lamps are left\n";
        })
        .get();

    const auto lengths = vow::map(
        std::vector<std::string>{"one", "three", "seventeen"},
        [](const std::string &word) {
            return vow::delay(1ms).then([n = word.size()] { return n; });
        },
        2);
    for (const std::size_t length : lengths.get())
        std::cout << length << " ";
    std::cout << "\n";

    try {
        vow::delay(1h).timeout(5ms).finally([] { std::cout << "cleaned up\n"; }).get();
    } catch (const vow::timed_out &e) {
        std::cout << e.what() << "\n";
    }
}
