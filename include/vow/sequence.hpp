/// What may be given where many are asked for: containers, arrays, views.
#ifndef VOW_SEQUENCE_HPP
#define VOW_SEQUENCE_HPP

#include "held.hpp"

#include <iterator>
#include <vector>

namespace vow {
inline namespace v1 {
namespace detail {

namespace finds_begin {
using std::begin;
using std::end;
template <class S> auto begin_of(S &&sequence) -> decltype(begin(sequence)) {
    return begin(sequence);
}
template <class S> auto end_of(S &&sequence) -> decltype(end(sequence)) {
    return end(sequence);
}
} // namespace finds_begin

template <class S>
using reference_of = decltype(*finds_begin::begin_of(std::declval<std::remove_reference_t<S> &>()));
template <class S> using item_of = std::decay_t<reference_of<S>>;

/// Whether a sequence that is given away has its items, and does not only point to them: then a
/// constant one has constant items. A view of somebody else's items has not; of one that cannot
/// tell it is not believed.
template <class S, class = void> struct owns_items : std::false_type {};
template <class S>
struct owns_items<S, std::void_t<reference_of<const S>>>
    : std::bool_constant<!std::is_reference_v<S> && std::is_lvalue_reference_v<reference_of<S>> &&
                         std::is_const_v<std::remove_reference_t<reference_of<const S>>> &&
                         !std::is_const_v<std::remove_reference_t<reference_of<S>>>> {};

template <class S, class = void> struct never_ends : std::false_type {};
#if defined(__cpp_lib_ranges)
template <class S>
struct never_ends<S, std::void_t<reference_of<S>>>
    : std::is_same<std::unreachable_sentinel_t,
                   std::decay_t<decltype(finds_begin::end_of(
                       std::declval<std::remove_reference_t<S> &>()))>> {};
#endif

/// Calls `use` with each item: as an rvalue if the sequence is given away and owns them.
template <class S, class Use> void for_each_own(S &&sequence, Use &&use) {
    static_assert(!never_ends<S>::value, "this view has no end: take as many as are meant");
    for (auto &&each : sequence) {
        if constexpr (owns_items<S>::value) {
            use(std::move(each));
        } else if constexpr (std::is_lvalue_reference_v<reference_of<S>>) {
            static_assert(std::is_copy_constructible_v<item_of<S>>,
                          "the items of a view, or of a container that is not given away, are "
                          "copied, and these can only be moved: std::move(container)");
            use(std::as_const(each));
        } else {
            use(std::forward<decltype(each)>(each));
        }
    }
}

template <class S, class = void> struct is_sequence_of_promises : std::false_type {};
template <class S>
struct is_sequence_of_promises<S, std::void_t<reference_of<S>>> : is_promise<item_of<S>> {};
template <class T, class A>
struct is_sequence_of_promises<std::vector<promise<T>, A>, void> : std::false_type {};

/// A sequence of promises that is no vector of them: those have functions of their own.
template <class S>
using if_promises =
    std::enable_if_t<is_sequence_of_promises<std::remove_cv_t<std::remove_reference_t<S>>>::value,
                     int>;

/// The handles in a sequence, in a vector.
template <class S> auto handles_in(S &&sequence) {
    std::vector<promise<typename item_of<S>::value_type>> handles;
    for_each_own(std::forward<S>(sequence),
                 [&](auto &&each) { handles.push_back(std::forward<decltype(each)>(each)); });
    return handles;
}

} // namespace detail
} // namespace v1
} // namespace vow

#endif
