/// Many promises as one.
#ifndef VOW_COMBINATORS_HPP
#define VOW_COMBINATORS_HPP

#include "promise.hpp"
#include "sequence.hpp"

namespace vow {
inline namespace v1 {
namespace detail {

/// Gives the handles in a vector to a C function.
template <class T, class Call>
vow_promise *combine(std::vector<promise<T>> &&promises, Call &&call) {
    std::vector<vow_promise *> natives;
    natives.reserve(promises.size());
    for (auto &each : promises)
        natives.push_back(each.release());
    return call(natives.data(), natives.size());
}

/// A vector of results, or nothing where there is nothing in them.
template <class T>
using results_of = std::conditional_t<std::is_void_v<T>, void, std::vector<regular<T>>>;

template <class... P>
inline constexpr bool are_promises = (is_promise<std::decay_t<P>>::value && ...);

/// The T of several promises, which is the same.
template <class P, class... Others> struct common_content {
    static_assert((std::is_same_v<std::decay_t<P>, std::decay_t<Others>> && ...),
                  "these promises are of different types");
    using type = typename std::decay_t<P>::value_type;
};

} // namespace detail

/// Fulfilled with all values, in the order of the promises; rejected as soon as one is, and then
/// the others are cancelled where nobody else reads them. (Handles are given away, as everywhere
/// here: copy what is to be kept. Instead of a vector any container, array or view may be given; a
/// view's handles, and those of a container that is not moved here, are copied.)
template <class T> promise<detail::results_of<T>> all(std::vector<promise<T>> promises) {
    return promise<detail::results_of<T>>::adopt(detail::combine(std::move(promises), vow_all));
}
template <class S, detail::if_promises<S> = 0> auto all(S &&promises) {
    return all(detail::handles_in(std::forward<S>(promises)));
}

/// The same of promises of different types: a tuple, in which nothing is a std::monostate. A
/// handler may take the tuple or its items.
template <class... T>
promise<std::tuple<detail::regular<T>...>> all(promise<T>... promises) noexcept {
    static_assert(sizeof...(T) > 0, "all() of nothing: give it an empty vector");
    vow_promise *natives[] = {promises.release()...};
    return promise<std::tuple<detail::regular<T>...>>::adopt(vow_all(natives, sizeof...(T)));
}

/// Fulfilled, when all are settled, with what became of each.
template <class T> promise<std::vector<outcome<T>>> all_settled(std::vector<promise<T>> promises) {
    return promise<std::vector<outcome<T>>>::adopt(
        detail::combine(std::move(promises), vow_all_settled));
}
template <class S, detail::if_promises<S> = 0> auto all_settled(S &&promises) {
    return all_settled(detail::handles_in(std::forward<S>(promises)));
}
template <class... T>
promise<std::tuple<outcome<T>...>> all_settled(promise<T>... promises) noexcept {
    static_assert(sizeof...(T) > 0, "all_settled() of nothing: give it an empty vector");
    vow_promise *natives[] = {promises.release()...};
    return promise<std::tuple<outcome<T>...>>::adopt(vow_all_settled(natives, sizeof...(T)));
}

/// Fulfilled with the first value; rejected with vow::aggregate_error when all are rejected.
template <class T> promise<T> any(std::vector<promise<T>> promises) {
    return promise<T>::adopt(detail::combine(std::move(promises), vow_any));
}
template <class S, detail::if_promises<S> = 0> auto any(S &&promises) {
    return any(detail::handles_in(std::forward<S>(promises)));
}
template <class T, class... Others> promise<T> any(promise<T> first, Others... others) noexcept {
    using same = typename detail::common_content<promise<T>, Others...>::type;
    vow_promise *natives[] = {first.release(), others.release()...};
    return promise<same>::adopt(vow_any(natives, 1 + sizeof...(Others)));
}

/// Fulfilled as soon as `wanted` promises are, with the values of these, in the order of the
/// promises; rejected with vow::aggregate_error when there cannot be so many any more.
template <class T>
promise<detail::results_of<T>> some(std::vector<promise<T>> promises, std::size_t wanted) {
    return promise<detail::results_of<T>>::adopt(
        detail::combine(std::move(promises), [wanted](vow_promise **natives, std::size_t count) {
            return vow_some(natives, count, wanted);
        }));
}
template <class S, detail::if_promises<S> = 0> auto some(S &&promises, std::size_t wanted) {
    return some(detail::handles_in(std::forward<S>(promises)), wanted);
}

/// Settles as the first one to settle does.
template <class T> promise<T> race(std::vector<promise<T>> promises) {
    return promise<T>::adopt(detail::combine(std::move(promises), vow_race));
}
template <class S, detail::if_promises<S> = 0> auto race(S &&promises) {
    return race(detail::handles_in(std::forward<S>(promises)));
}
template <class T, class... Others> promise<T> race(promise<T> first, Others... others) noexcept {
    using same = typename detail::common_content<promise<T>, Others...>::type;
    vow_promise *natives[] = {first.release(), others.release()...};
    return promise<same>::adopt(vow_race(natives, 1 + sizeof...(Others)));
}

} // namespace v1
} // namespace vow

#endif
