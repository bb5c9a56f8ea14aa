// expect: deleted function
#include <vow/stop_token.hpp>

std::stop_token stop_of(const vow::token &from) {
    return vow::to_stop_token(from);
}
