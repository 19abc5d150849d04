// Fills the table that a compiled program exports.
#pragma once

#include "interface.h"

namespace simt {

template <class T> struct Letter {
    static_assert(sizeof(T) == 0, "a kernel's parameter is a pointer, a 32- or 64-bit integer or a double");
};
template <class T> struct Letter<T*> { static constexpr char value = 'p'; };
template <> struct Letter<unsigned> { static constexpr char value = 'u'; };
template <> struct Letter<int> { static constexpr char value = 'i'; };
template <> struct Letter<unsigned long> { static constexpr char value = sizeof(long) == 8 ? 'U' : 'u'; };
template <> struct Letter<long> { static constexpr char value = sizeof(long) == 8 ? 'I' : 'i'; };
template <> struct Letter<unsigned long long> { static constexpr char value = 'U'; };
template <> struct Letter<long long> { static constexpr char value = 'I'; };
template <> struct Letter<double> { static constexpr char value = 'd'; };
template <class T> struct Letter<const T> : Letter<T> {};
template <class T> struct Letter<T* const> : Letter<T*> {};
template <class T> struct Letter<T* __restrict> : Letter<T*> {};
template <class T> struct Letter<T* const __restrict> : Letter<T*> {};

template <class T> struct Plain { typedef T type; };
template <class T> struct Plain<const T> { typedef T type; };

template <auto Function> struct Entry;

template <class... Parameters, void (*Function)(Parameters...)>
struct Entry<Function> {
    static constexpr char parameters[] = {Letter<Parameters>::value..., '\0'};

    template <size_t... I, template <size_t...> class Indices>
    static void apply(void** arguments, Indices<I...>) {
        Function(*static_cast<typename Plain<Parameters>::type*>(arguments[I])...);
    }

    template <size_t... I> struct Indices {};
    template <size_t N, size_t... I> struct Count : Count<N - 1, N - 1, I...> {};
    template <size_t... I> struct Count<0, I...> { typedef Indices<I...> type; };

    static void call(void** arguments) {
        apply(arguments, typename Count<sizeof...(Parameters)>::type{});
    }
};

}  // namespace simt

#define SIMT_KERNEL(function, most_threads) \
    {#function, simt::Entry<function>::parameters, most_threads, simt::Entry<function>::call}

#define SIMT_MODULE(...)                                                            \
    static const SimtKernel simt_kernels[] = {__VA_ARGS__};                         \
    extern "C" __attribute__((visibility("default"))) const SimtModule simt_module; \
    const SimtModule simt_module = {sizeof simt_kernels / sizeof *simt_kernels, simt_kernels, simt_run};
