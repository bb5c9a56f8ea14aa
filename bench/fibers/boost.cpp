// boost.context: a switch, a fiber that ends at once, and many that are suspended.
#include "workload.h"

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <vector>

namespace context = boost::context;

static context::pooled_fixedsize_stack stacks(65536);

static void change(size_t n) {
    size_t entered = 0;
    bool ends = false;
    context::fiber other(std::allocator_arg, stacks, [&](context::fiber &&home) {
        while (!ends) {
            entered++;
            home = std::move(home).resume();
        }
        return std::move(home);
    });
    for (size_t i = 0; i < n / 2; i++) {
        other = std::move(other).resume();
    }
    EXPECT(entered == n / 2);
    ends = true;
    std::move(other).resume();
}

static void spawn(size_t n) {
    size_t ran = 0;
    for (size_t i = 0; i < n; i++) {
        context::fiber(std::allocator_arg, stacks, [&](context::fiber &&home) {
            ran++;
            return std::move(home);
        }).resume();
    }
    EXPECT(ran == n);
}

static void hold(size_t n) {
    double before = status("VmRSS:");
    std::vector<context::fiber> all;
    for (size_t i = 0; i < n; i++) {
        all.push_back(context::fiber(std::allocator_arg, context::fixedsize_stack(65536),
                                     [](context::fiber &&home) { return std::move(home).resume(); })
                          .resume());
    }
    hold_items(n, before);
}

int main(int argc, char **argv) {
    static const workload workloads[] = {
        {"switch", change}, {"spawn", spawn}, {"hold", hold}, {nullptr, nullptr}};
    return run_workload(argc, argv, workloads);
}
