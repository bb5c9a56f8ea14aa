/// Asio both ways: vow::use_promise, with which an operation of Asio's is a promise;
/// vow::async_get, with which a promise is an operation of Asio's; vow::asio_executor. Not a part
/// of vow.hpp. With the library of that name, or with Boost's where VOW_BOOST_ASIO is defined.
#ifndef VOW_ASIO_HPP
#define VOW_ASIO_HPP

#include "resolver.hpp"

#include <mutex>

#if defined(VOW_BOOST_ASIO)
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#else
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/dispatch.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#endif

namespace vow {
inline namespace v1 {

namespace detail {
#if defined(VOW_BOOST_ASIO)
namespace net = boost::asio;
using net_error = boost::system::error_code;
#else
namespace net = asio;
using net_error = std::error_code;
#endif

/// The arguments of a completion handler as one value.
template <class... A> struct joined_arguments { using type = std::tuple<std::decay_t<A>...>; };
template <class A> struct joined_arguments<A> { using type = std::decay_t<A>; };
template <> struct joined_arguments<> { using type = void; };

/// The same for the arguments behind an error, if there is one.
template <class... A> struct completion : joined_arguments<A...> {};
template <class... A> struct completion<net_error, A...> : joined_arguments<A...> {};
template <class... A> struct completion<std::exception_ptr, A...> : joined_arguments<A...> {};

/// Tells an operation that it is not wanted any more, while it is under way. Signals are not for
/// several threads; the operation may end on one while a promise is cancelled on another.
class operation_stop {
  public:
    net::cancellation_slot slot() noexcept {
        return signal_.slot();
    }
    void emit() {
        const std::lock_guard<std::recursive_mutex> locked(mutex_);
        if (!is_over_)
            signal_.emit(net::cancellation_type::terminal);
    }
    void operation_is_over() {
        const std::lock_guard<std::recursive_mutex> locked(mutex_);
        is_over_ = true;
    }

  private:
    net::cancellation_signal signal_;
    std::recursive_mutex mutex_; // an operation may end inside of its cancellation
    bool is_over_ = false;
};

/// The completion handler that settles a promise.
template <class T> class settling_handler {
  public:
    using cancellation_slot_type = net::cancellation_slot;

    settling_handler(vow::resolver<T> settles, std::shared_ptr<operation_stop> stop) noexcept
        : settles_(std::move(settles)), stop_(std::move(stop)) {
    }

    cancellation_slot_type get_cancellation_slot() const noexcept {
        return stop_->slot();
    }

    void operator()() {
        fulfil();
    }
    template <class First, class... Rest> void operator()(First &&first, Rest &&...rest) {
        if constexpr (std::is_same_v<std::decay_t<First>, net_error>)
            first ? reject(static_cast<std::error_code>(first))
                  : fulfil(std::forward<Rest>(rest)...);
        else if constexpr (std::is_same_v<std::decay_t<First>, std::exception_ptr>)
            first ? reject(first) : fulfil(std::forward<Rest>(rest)...);
        else
            fulfil(std::forward<First>(first), std::forward<Rest>(rest)...);
    }

  private:
    template <class E> void reject(E problem) {
        stop_->operation_is_over();
        settles_.reject(std::move(problem));
    }
    template <class... A> void fulfil(A &&...values) {
        stop_->operation_is_over();
        try {
            if constexpr (sizeof...(A) < 2)
                settles_.resolve(std::forward<A>(values)...);
            else
                settles_.resolve(T(std::forward<A>(values)...));
        } catch (...) {
            settles_.reject(std::current_exception());
        }
    }

    vow::resolver<T> settles_;
    std::shared_ptr<operation_stop> stop_;
};

template <class E, class = void> struct knows_its_threads : std::false_type {};
template <class E>
struct knows_its_threads<E,
                         std::void_t<decltype(std::declval<const E &>().running_in_this_thread())>>
    : std::true_type {};

template <class E> struct is_strand : std::false_type {};
template <class E> struct is_strand<net::strand<E>> : std::true_type {};

/// The signature of a handler of async_get.
template <class T> struct get_signature { using type = void(std::exception_ptr, T); };
template <> struct get_signature<void> { using type = void(std::exception_ptr); };

/// Calls a handler of Asio's with the outcome of a promise.
template <class T, class Handler> void complete(Handler &handler, const outcome<T> &ended) {
    if constexpr (std::is_void_v<T>) {
        std::move(handler)(ended.exception());
    } else {
        static_assert(std::is_default_constructible_v<T>,
                      "async_get: Asio wants a value beside an exception, too");
        std::exception_ptr problem = ended.exception();
        T content{};
        try {
            if (!problem)
                content = read < is_shareable_v<T> ? reading::copied : reading::taken,
                T > (value::borrow(ended.native()));
        } catch (...) {
            problem = std::current_exception();
        }
        std::move(handler)(std::move(problem), std::move(content));
    }
}

/// Waits for a promise in the name of a handler, which keeps its executor at work meanwhile.
struct initiate_get {
    template <class Handler, class T> void operator()(Handler &&handler, promise<T> from) const {
        auto where = net::get_associated_executor(handler);
        auto slot = net::get_associated_cancellation_slot(handler);
        if (slot.is_connected())
            slot.assign([from](net::cancellation_type) { from.cancel(); });
        // The handler carries the work guard of the executor's context, which may be gone when post
        // returns.
        auto ends = [handler = std::forward<Handler>(handler), slot, where,
                     works = net::make_work_guard(where)](const outcome<T> &ended) mutable {
            net::post(where, [handler = std::move(handler), slot, works = std::move(works),
                              ended]() mutable {
                if (slot.is_connected())
                    slot.clear();
                complete(handler, ended);
            });
        };
        std::move(from).settled(std::move(ends), inline_executor()).detach();
    }
};

} // namespace detail

/// A completion token: an operation that is given it returns a `promise<T>`, of nothing, of the
/// value that its handlers get beside the error, or of a tuple of several.
///
///     vow::promise<std::size_t> n = socket.async_read_some(buffer, vow::use_promise);
///
/// An error code rejects, as a std::system_error. Cancelling the promise, or dropping its last
/// reader, cancels the operation (terminal), through its executor: on a thread of that at once,
/// elsewhere when the executor comes to it, which has to run for that. The promise settles when the
/// operation has ended. The socket and the buffer of the operation must live until then, also if
/// the promise has no reader: a cancellation that is on its way reaches into the socket. Asio's
/// rule for several threads holds here as well: an operation of several steps, async_read or
/// co_spawn, wants a strand as executor (the socket's: a strand that is only bound to the token may
/// be hidden by Asio, and then the operation is cancelled on the thread that cancels).
struct use_promise_t {
    constexpr use_promise_t() noexcept = default;

    /// The executor of an I/O object whose operations are promises without a token, by Asio's
    /// convention: `auto timer = vow::use_promise.as_default_on(asio::steady_timer(context));`
    template <class Executor> struct executor_with_default : Executor {
        using default_completion_token_type = use_promise_t;
        template <class From, std::enable_if_t<!std::is_same_v<From, executor_with_default> &&
                                                   std::is_convertible_v<const From &, Executor>,
                                               int> = 0>
        executor_with_default(const From &from) noexcept : Executor(from) {
        }
    };
    template <class Object>
    using as_default_on_t = typename Object::template rebind_executor<
        executor_with_default<typename Object::executor_type>>::other;
    template <class Object>
    static as_default_on_t<std::decay_t<Object>> as_default_on(Object &&on) {
        return as_default_on_t<std::decay_t<Object>>(std::forward<Object>(on));
    }
};
VOW_OF_EACH_OBJECT inline constexpr use_promise_t use_promise{};

namespace detail {

template <class E> struct is_strand<use_promise_t::executor_with_default<E>> : is_strand<E> {};

/// How vow::use_promise makes a promise of an operation whose handler takes these.
template <class... A> struct promise_result {
    using content = typename completion<std::decay_t<A>...>::type;
    using return_type = promise<content>;

    /// Begins the operation. Throws std::bad_alloc, and the operation's exceptions.
    template <class Initiation, class... Arguments>
    static return_type initiate(Initiation &&initiation, use_promise_t, Arguments &&...arguments) {
        vow_resolver *owned = nullptr;
        vow_promise *begun = vow_promise_create_with(&owned, VOW_COOPERATIVE);
        // If the initiation throws, the promise goes first, so no broken promise is reported.
        auto settles = vow::resolver<content>::adopt(owned);
        auto made = return_type::adopt(begun);
        auto stop = std::make_shared<operation_stop>();
        // On a thread of the executor's at once: the socket may be gone afterwards.
        settles.on_cancel([stop = std::weak_ptr<operation_stop>(stop),
                           where = net::get_associated_executor(initiation)] {
            net::dispatch(where, [stop] {
                if (const auto there = stop.lock())
                    there->emit();
            });
        });
        std::forward<Initiation>(initiation)(settling_handler<content>(settles, std::move(stop)),
                                             std::forward<Arguments>(arguments)...);
        return made;
    }
};

} // namespace detail

/// Runs handlers by an executor of Asio's: of an io_context, of a strand, or any other. On an
/// executor that knows its threads, handlers attached there run there; a strand makes a serial
/// executor. The context must outlive the handlers; work that is queued in it when it is destroyed
/// runs inside of its destructor. A pending promise does not keep its run() from returning: a work
/// guard does. Throws std::bad_alloc.
template <class Executor> [[nodiscard]] executor asio_executor(Executor where) {
    auto submit = [where](work submitted) { detail::net::post(where, std::move(submitted)); };
    auto current = [where]() noexcept {
        if constexpr (detail::knows_its_threads<Executor>::value)
            return where.running_in_this_thread();
        else
            return static_cast<void>(where), false;
    };
    if constexpr (detail::is_strand<Executor>::value)
        return custom_serial_executor(std::move(submit), std::move(current));
    else
        return custom_executor(std::move(submit), std::move(current));
}

/// Waits for a promise as an operation of Asio's: by any of its completion tokens, with handlers of
/// `(std::exception_ptr)` or `(std::exception_ptr, T)`, on the handler's executor. In one of Asio's
/// coroutines:
///
///     int answer = co_await vow::async_get(std::move(promise), asio::use_awaitable);
///
/// Cancelling the operation cancels the promise, and the operation ends when that has settled. Its
/// handler is registered on the promise, not in the context, which must live until then.
template <class T, class Token> auto async_get(promise<T> from, Token &&token) {
    return detail::net::async_initiate<Token, typename detail::get_signature<T>::type>(
        detail::initiate_get(), token, std::move(from));
}

} // namespace v1
} // namespace vow

#if defined(VOW_BOOST_ASIO)
namespace boost::asio {
#else
namespace asio {
#endif
template <class R, class... A>
class async_result<vow::use_promise_t, R(A...)> : public vow::detail::promise_result<A...> {};
} // namespace asio

#endif
