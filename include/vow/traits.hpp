/// How a C++ type is carried by a promise: as a C kind where there is one, else as an object.
#ifndef VOW_TRAITS_HPP
#define VOW_TRAITS_HPP

#include "exceptions.hpp"

#include <atomic>
#include <limits>
#include <memory>
#include <tuple>
#include <variant>

namespace vow {
inline namespace v1 {

namespace detail {

[[noreturn]] inline void throw_mismatch(vow_value found, const char *wanted) {
    const std::string text = "the promise holds " + value::borrow(found).describe() +
                             ", which is no " + std::string(wanted);
    throw error(errc::invalid_argument, text.c_str());
}

/// An owned value of a call that makes one; out of memory, or another error, is thrown.
inline vow_value checked(vow_value made) {
    if (made.kind == VOW_ERROR) {
        const value held = value::adopt(made);
        if (vow_error_code(made) == VOW_ENOMEM)
            throw std::bad_alloc();
        throw_error(made);
    }
    return made;
}

/// An object of the program, in a value. Who takes it out leaves an empty one behind. The library
/// has one reference; a reader that gives its own away to see whether it was the last one has
/// another.
template <class T> struct box : object_head {
    std::atomic<bool> is_taken{false};
    std::atomic<std::uint32_t> owners{1};
    T content;

    explicit box(T &&from) : object_head{&record_of<T>()}, content(std::move(from)) {
    }

    static void destroy(void *pointer) {
        static_cast<box *>(static_cast<object_head *>(pointer))->release();
    }
    void release() noexcept {
        if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
            destroy_content(this);
    }
    VOW_OF_EACH_OBJECT static const vow_class kind;

    static box *in(vow_value native) noexcept {
        return static_cast<box *>(object_in(native, record_of<T>()));
    }
    const T &shared() const {
        if (is_taken.load(std::memory_order_acquire))
            throw error(errc::invalid_argument, "the value was taken by another reader");
        return content;
    }
    T take() {
        if (is_taken.exchange(true, std::memory_order_acq_rel))
            throw error(errc::invalid_argument, "the value was taken by another reader");
        return std::move(content);
    }
};

template <class T>
inline const vow_class box<T>::kind = {sizeof(vow_class), "C++ object", box<T>::destroy, nullptr};

template <class T> vow_value write_object(T &&content) {
    using own = box<std::decay_t<T>>;
    auto made = std::make_unique<own>(std::forward<T>(content));
    const std::uint32_t tag = made->type->tag;
    vow_value written = checked(vow_object(static_cast<object_head *>(made.release()), &own::kind));
    written.reserved = tag;
    return written;
}

} // namespace detail

/// How a T becomes a value and is read again. May be specialised for types of the program.
///
///   write  an owned value of a T (consumed); throws std::bad_alloc
///   read   the T in a value (borrowed): a reference into it, or a T of its own; throws vow::error
///          when it holds something else
///   take   the T, moved out of the value if it is an object; at most one reader can
template <class T, class = void> struct value_traits {
    static_assert(std::is_same_v<T, std::decay_t<T>>,
                  "a promise carries a value: no reference, no const");
    static_assert(std::is_move_constructible_v<T>, "a value is moved into its promise");

    static vow_value write(T &&content) {
        return detail::write_object(std::move(content));
    }
    static const T &read(vow_value native) {
        if (const auto *found = detail::box<T>::in(native))
            return found->shared();
        detail::throw_mismatch(native, "object of this C++ type");
    }
    static T take(vow_value native) {
        if (auto *found = detail::box<T>::in(native))
            return found->take();
        detail::throw_mismatch(native, "object of this C++ type");
    }
};

/// promise<void> reads whatever is there as nothing.
template <> struct value_traits<void> {
    static void read(vow_value) noexcept {
    }
    static void take(vow_value) noexcept {
    }
};

template <> struct value_traits<std::monostate> {
    static vow_value write(std::monostate) noexcept {
        return vow_none();
    }
    static std::monostate read(vow_value) noexcept {
        return {};
    }
    static std::monostate take(vow_value) noexcept {
        return {};
    }
};

template <> struct value_traits<value> {
    static vow_value write(value &&content) noexcept {
        return content.release();
    }
    static value read(vow_value native) noexcept {
        return value::borrow(native);
    }
    static value take(vow_value native) noexcept {
        return value::borrow(native);
    }
};

/// VOW_STRING. Each reader gets a string of its own.
template <> struct value_traits<std::string> {
    static vow_value write(const std::string &content) {
        return detail::checked(vow_string(content.data(), content.size()));
    }
    static std::string read(vow_value native) {
        if (native.kind != VOW_STRING)
            detail::throw_mismatch(native, "string");
        std::size_t length = 0;
        const char *bytes = vow_string_bytes(native, &length);
        return std::string(bytes, length);
    }
    static std::string take(vow_value native) {
        return read(native);
    }
};

template <class C> struct value_traits<std::basic_string_view<C>> {
    static_assert(sizeof(C) == 0, "a promise outlives the characters: carry a std::string");
};

namespace detail {

/// Whether a T can be read and left where it is for others; else it can only be taken. A container
/// of what cannot be copied says that it can be copied, so what is in it is asked, too.
template <class T, class = void> struct is_shareable : std::is_copy_constructible<T> {};
template <> struct is_shareable<void> : std::true_type {};
template <class T>
struct is_shareable<T, std::enable_if_t<!std::is_same_v<typename T::value_type, T> &&
                                        !std::is_void_v<typename T::iterator>>>
    : std::conjunction<std::is_copy_constructible<T>, is_shareable<typename T::value_type>> {};
template <class... T>
struct is_shareable<std::tuple<T...>> : std::conjunction<is_shareable<T>...> {};
template <class A, class B>
struct is_shareable<std::pair<A, B>> : std::conjunction<is_shareable<A>, is_shareable<B>> {};
template <class T> struct is_shareable<std::optional<T>> : is_shareable<T> {};
template <class... T>
struct is_shareable<std::variant<T...>> : std::conjunction<is_shareable<T>...> {};
template <class T> inline constexpr bool is_shareable_v = is_shareable<T>::value;

/// The type that stands for T where there must be one.
template <class T> using regular = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Vectors and tuples are objects; but what the combinators make is a list, from which each reader
/// gets one of its own.
template <class T> struct list_traits {
    static vow_value write(T &&content) {
        return write_object(std::move(content));
    }

  protected:
    static box<T> *object(vow_value native, const char *wanted) {
        if (auto *found = box<T>::in(native))
            return found;
        if (native.kind != VOW_LIST)
            throw_mismatch(native, wanted);
        return nullptr;
    }
};

} // namespace detail

template <class T> struct value_traits<std::vector<T>> : detail::list_traits<std::vector<T>> {
    static std::vector<T> read(vow_value native) {
        return visit(native, [](const std::vector<T> &content) { return content; });
    }
    static std::vector<T> take(vow_value native) {
        if (auto *object = value_traits::object(native, "list"))
            return object->take();
        return each(native, [](vow_value item) -> T { return value_traits<T>::take(item); });
    }
    /// Reads without a copy where there is an object.
    template <class Use> static decltype(auto) visit(vow_value native, Use &&use) {
        if (const auto *object = value_traits::object(native, "list"))
            return use(object->shared());
        if constexpr (detail::is_shareable<T>::value) {
            const auto all =
                each(native, [](vow_value item) -> T { return value_traits<T>::read(item); });
            return use(all);
        } else {
            detail::throw_mismatch(native, "list that can be read: its items can only be moved");
        }
    }

  private:
    template <class Item> static std::vector<T> each(vow_value list, Item item) {
        std::vector<T> all;
        const std::size_t count = vow_list_count(list);
        all.reserve(count);
        for (std::size_t i = 0; i < count; i++)
            all.push_back(item(vow_list_at(list, i)));
        return all;
    }
};

template <class... T>
struct value_traits<std::tuple<T...>> : detail::list_traits<std::tuple<T...>> {
    static std::tuple<T...> read(vow_value native) {
        return visit(native, [](const std::tuple<T...> &content) { return content; });
    }
    static std::tuple<T...> take(vow_value native) {
        if (auto *object = value_traits::object(native, "tuple"))
            return object->take();
        return items(native, std::index_sequence_for<T...>(),
                     [](auto traits, vow_value item) { return decltype(traits)::take(item); });
    }
    /// Reads without a copy where there is an object.
    template <class Use> static decltype(auto) visit(vow_value native, Use &&use) {
        if (const auto *object = value_traits::object(native, "tuple"))
            return use(object->shared());
        if constexpr (std::conjunction_v<detail::is_shareable<T>...>) {
            const auto all =
                items(native, std::index_sequence_for<T...>(),
                      [](auto traits, vow_value item) { return decltype(traits)::read(item); });
            return use(all);
        } else {
            detail::throw_mismatch(native, "tuple that can be read: its items can only be moved");
        }
    }

  private:
    template <std::size_t... Index, class Item>
    static std::tuple<T...> items(vow_value list, std::index_sequence<Index...>, Item item) {
        if (vow_list_count(list) != sizeof...(T))
            detail::throw_mismatch(list, "tuple of this length");
        return std::tuple<T...>{item(value_traits<T>(), vow_list_at(list, Index))...};
    }
};

namespace detail {

template <class T, class = void> struct has_visit : std::false_type {};
template <class T>
struct has_visit<T, std::void_t<decltype(value_traits<T>::visit(
                        vow_value(), std::declval<void (*)(const T &)>()))>> : std::true_type {};

/// Calls `use` with the T in a value (borrowed).
template <class T, class Use> decltype(auto) with_value(vow_value native, Use &&use) {
    if constexpr (has_visit<T>::value)
        return value_traits<T>::visit(native, std::forward<Use>(use));
    else
        return use(value_traits<T>::read(native));
}

/// A T of the caller's own: a copy, or the one there is if it can only be moved.
template <class T> T own_value(vow_value native) {
    if constexpr (is_shareable_v<T>)
        return value_traits<T>::read(native);
    else
        return value_traits<T>::take(native);
}

/// A T of the caller's own, who gives a reference away: moved, if that was the last one and nobody
/// else can read it; else as own_value.
template <class T> T last_value(value held);

/// The T in a box of which the caller gives a reference away.
template <class T> T last_of(box<T> *found, value held) {
    struct other_owner {
        box<T> *of;
        ~other_owner() {
            of->release();
        }
    };
    found->owners.fetch_add(1, std::memory_order_relaxed);
    const other_owner keeps{found};
    held = value();
    // Only the library's reference leads there: without it nobody comes any more.
    return found->owners.load(std::memory_order_acquire) == 1 ? found->take() : T(found->shared());
}

/// The items of a list of which the caller gives a reference away.
inline std::vector<value> last_items(value list) {
    std::vector<value> items;
    items.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); i++)
        items.push_back(list[i]);
    return items;
}

template <class T> struct last_list { static constexpr bool is_one = false; };
template <class T> struct last_list<std::vector<T>> {
    static constexpr bool is_one = is_shareable_v<T>;
    static std::vector<T> make(value list) {
        std::vector<value> items = last_items(std::move(list));
        std::vector<T> all;
        all.reserve(items.size());
        for (value &item : items)
            all.push_back(last_value<T>(std::move(item)));
        return all;
    }
};
template <class... T> struct last_list<std::tuple<T...>> {
    static constexpr bool is_one = sizeof...(T) > 0 && std::conjunction_v<is_shareable<T>...>;
    static std::tuple<T...> make(value list) {
        return made_of(std::move(list), std::index_sequence_for<T...>());
    }

  private:
    template <std::size_t... Index>
    static std::tuple<T...> made_of(value list, std::index_sequence<Index...>) {
        if (list.size() != sizeof...(T))
            throw_mismatch(list.native(), "tuple of this length");
        std::vector<value> items = last_items(std::move(list));
        return std::tuple<T...>{last_value<T>(std::move(items[Index]))...};
    }
};

template <class T> T last_value(value held) {
    if constexpr (std::is_void_v<T>) {
        return;
    } else if constexpr (is_shareable_v<T>) {
        if (box<T> *const found = box<T>::in(held.native()))
            return last_of<T>(found, std::move(held));
        if constexpr (last_list<T>::is_one)
            if (held.kind() == VOW_LIST)
                return last_list<T>::make(std::move(held));
        return value_traits<T>::read(held.native());
    } else {
        return value_traits<T>::take(held.native());
    }
}

} // namespace detail

template <class T> value value::of(T content) {
    return adopt(value_traits<T>::write(std::move(content)));
}

template <class T> T value::as() const {
    static_assert(detail::is_shareable_v<T>, "this value can only be moved: read it from a promise "
                                             "that is given away");
    if constexpr (detail::is_shareable_v<T>)
        return value_traits<T>::read(native_);
    else
        std::terminate(); // one error says enough
}

} // namespace v1
} // namespace vow

#endif
