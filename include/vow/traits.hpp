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

/// An object of the program, in a value. A reader that takes it out leaves an empty one behind. The
/// library has one reference; a reader that gives its own away to see whether it was the last one
/// has another.
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
///   take   the T, moved out of the value if it is an object; at most one reader can. Where it is
///          not said, a T is read
template <class T, class = void> struct value_traits {
    static_assert(std::is_same_v<T, std::decay_t<T>>,
                  "a promise carries a value: no reference, no const");
    static_assert(std::is_move_constructible_v<T>, "a value is moved into its promise");

    static vow_value write(T &&content) {
        return detail::write_object(std::move(content));
    }
    static const T &read(vow_value native) {
        return object(native)->shared();
    }
    static T take(vow_value native) {
        return object(native)->take();
    }

  private:
    static detail::box<T> *object(vow_value native) {
        if (auto *found = detail::box<T>::in(native))
            return found;
        detail::throw_mismatch(native, "object of this C++ type");
    }
};

template <> struct value_traits<std::monostate> {
    static vow_value write(std::monostate) noexcept {
        return vow_none();
    }
    static std::monostate read(vow_value) noexcept {
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
};

template <class C> struct value_traits<std::basic_string_view<C>> {
    static_assert(sizeof(C) == 0, "a promise outlives the characters: carry a std::string");
};

namespace detail {

/// Whether a T can be read and left where it is for others; else it can only be taken. A container
/// of a type that cannot be copied says that it can be copied, so its items' type is asked, too.
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

/// The type used for T where there must be one.
template <class T> using regular = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// How a reader comes to a T of its own.
enum class reading {
    copied, ///< the others have theirs
    taken,  ///< moved out, whatever its type; also where it is `copied` and can only be moved
    last ///< the reader gives its reference away: moved out, if that was the last one, else copied
};

/// A T of the reader's own. Throws vow::error when there is something else.
template <reading How, class T> T read(value held);

/// The values in a list, of which the caller gives a reference away.
inline std::vector<value> items_of(value list) {
    std::vector<value> items;
    items.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); i++)
        items.push_back(list[i]);
    return items;
}

/// Vectors and tuples, which combinators make as lists: from those each reader makes its own.
template <class T> struct list_of { static constexpr bool is_one = false; };
template <class T> struct list_of<std::vector<T>> {
    static constexpr bool is_one = true;
    template <reading How> static std::vector<T> make(value list) {
        if (list.kind() != VOW_LIST)
            throw_mismatch(list.native(), "list");
        std::vector<value> items = items_of(std::move(list));
        std::vector<T> all;
        all.reserve(items.size());
        for (value &item : items)
            all.push_back(detail::read<How, T>(std::move(item)));
        return all;
    }
};
template <class... T> struct list_of<std::tuple<T...>> {
    static constexpr bool is_one = true;
    template <reading How> static std::tuple<T...> make(value list) {
        if (list.kind() != VOW_LIST || list.size() != sizeof...(T))
            throw_mismatch(list.native(), "tuple of this length");
        std::vector<value> items = items_of(std::move(list)); // at its end the list is given away
        return made_of<How>(std::move(items), std::index_sequence_for<T...>());
    }

  private:
    template <reading How, std::size_t... Index>
    static std::tuple<T...> made_of([[maybe_unused]] std::vector<value> &&items,
                                    std::index_sequence<Index...>) {
        return std::tuple<T...>{detail::read<How, T>(std::move(items[Index]))...};
    }
};

template <class T, class = void> struct can_take : std::false_type {};
template <class T>
struct can_take<T, std::void_t<decltype(value_traits<T>::take(vow_value()))>> : std::true_type {};

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
    // Only the library's reference leads there: without it no reader comes any more.
    return found->owners.load(std::memory_order_acquire) == 1 ? found->take() : T(found->shared());
}

template <reading How, class T> T read(value held) {
    if constexpr (std::is_void_v<T>) {
        return;
    } else if constexpr (How == reading::copied && !is_shareable_v<T>) {
        static_assert(is_shareable_v<T>,
                      "this value can only be moved: std::move(p).get(), or take()");
        std::terminate(); // one error says enough
    } else if constexpr (How == reading::copied || (is_shareable_v<T> && !can_take<T>::value)) {
        return value_traits<T>::read(held.native());
    } else if constexpr (How == reading::taken || !is_shareable_v<T>) {
        return value_traits<T>::take(held.native());
    } else {
        if (box<T> *const found = box<T>::in(held.native()))
            return last_of(found, std::move(held));
        if constexpr (list_of<T>::is_one)
            if (held.kind() == VOW_LIST)
                return list_of<T>::template make<reading::last>(std::move(held));
        return value_traits<T>::read(held.native());
    }
}

/// Reads the T in a value for code that uses it in its place, and is its place if it has no other.
template <class T> class content {
  public:
    /// To look at, as long as this and the value (borrowed) are there.
    const T &look(vow_value native) {
        if constexpr (!is_shareable_v<T> ||
                      std::is_reference_v<decltype(value_traits<T>::read(native))>) {
            return in_place(native);
        } else {
            if constexpr (std::is_class_v<T>)
                if (const auto *object = box<T>::in(native))
                    return object->shared();
            return own_.emplace(value_traits<T>::read(native));
        }
    }
    /// The same for a type that can only be moved, or is read in its place.
    static const T &in_place(vow_value native) {
        if constexpr (std::is_reference_v<decltype(value_traits<T>::read(native))>)
            return value_traits<T>::read(native);
        else if (const auto *object = box<T>::in(native))
            return object->shared();
        else
            throw_mismatch(native, "list that can be read: its items can only be moved");
    }
    /// To take away.
    T &&take(vow_value native) {
        return std::move(own_.emplace(read<reading::taken, T>(value::borrow(native))));
    }

  private:
    std::optional<T> own_;
};

/// Vectors and tuples are objects, or a combinator's lists.
template <class L> struct list_traits {
    static vow_value write(L &&content) {
        return write_object(std::move(content));
    }
    static L read(vow_value native) {
        if (const auto *object = box<L>::in(native))
            return object->shared();
        return list_of<L>::template make<reading::copied>(value::borrow(native));
    }
    static L take(vow_value native) {
        if (auto *object = box<L>::in(native))
            return object->take();
        return list_of<L>::template make<reading::taken>(value::borrow(native));
    }
};

} // namespace detail

template <class T> struct value_traits<std::vector<T>> : detail::list_traits<std::vector<T>> {};
template <class... T>
struct value_traits<std::tuple<T...>> : detail::list_traits<std::tuple<T...>> {};

template <class T> value value::of(T content) {
    return adopt(value_traits<T>::write(std::move(content)));
}

template <class T> T value::as() const {
    return detail::read<detail::reading::copied, T>(*this);
}

} // namespace v1
} // namespace vow

#endif
