// expect: a coroutine is called, its promise is the one that it returns
#include <vow.hpp>

vow::promise<int> probe() {
    return vow::make_promise<int>([](vow::resolver<int> settles) -> vow::promise<void> {
        co_await vow::resume_on(vow::pool_executor());
        settles.resolve(1);
    });
}
