// Warp collectives: every lane of the mask must reach the same collective; otherwise the run ends with
// a report.
#pragma once

namespace simt {

inline unsigned lane() {
    unsigned thread = current->thread.x +
                      block_size.x * (current->thread.y + block_size.y * current->thread.z);
    return thread % 32;
}

template <class T>
inline T shuffled(unsigned mask, T value, unsigned source, const char* file, int line) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle requires a value of 4 or 8 bytes");
    simt_u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    bits = collective(shuffle, mask, bits, source, file, line);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace simt

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, SIMT_HERE) {
    unsigned first = simt::lane() & ~(width - 1u);
    return simt::shuffled(mask, value, first + (source & (width - 1u)), file, line);
}

template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {
    unsigned lane = simt::lane();
    bool inside = (lane & (width - 1u)) >= delta;
    return simt::shuffled(mask, value, inside ? lane - delta : lane, file, line);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {
    unsigned lane = simt::lane();
    bool inside = (lane & (width - 1u)) + delta < static_cast<unsigned>(width);
    return simt::shuffled(mask, value, inside ? lane + delta : lane, file, line);
}

template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, SIMT_HERE) {
    unsigned lane = simt::lane();
    unsigned source = lane ^ with;
    bool inside = source <= (lane | (width - 1u));
    return simt::shuffled(mask, value, inside ? source : lane, file, line);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_HERE) {
    simt::collective(simt::warp_barrier, mask, 0, 0, file, line);
}

#define SIMT_VOTE(name, kind, result)                                                       \
    inline result name(unsigned mask, int predicate, SIMT_HERE) {                           \
        return static_cast<result>(                                                         \
            simt::collective(simt::kind, mask, predicate != 0, 0, file, line));             \
    }
SIMT_VOTE(__ballot_sync, ballot, unsigned)
SIMT_VOTE(__any_sync, any, int)
SIMT_VOTE(__all_sync, all, int)
#undef SIMT_VOTE

#define SIMT_REDUCTION(name, kind, type)                                                    \
    inline type name(unsigned mask, type value, SIMT_HERE) {                                \
        unsigned bits = static_cast<unsigned>(value);                                       \
        return static_cast<type>(simt::collective(simt::kind, mask, bits, 0, file, line));  \
    }
SIMT_REDUCTION(__reduce_add_sync, reduce_add, unsigned)
SIMT_REDUCTION(__reduce_add_sync, reduce_add, int)
SIMT_REDUCTION(__reduce_min_sync, reduce_min_unsigned, unsigned)
SIMT_REDUCTION(__reduce_min_sync, reduce_min_signed, int)
SIMT_REDUCTION(__reduce_max_sync, reduce_max_unsigned, unsigned)
SIMT_REDUCTION(__reduce_max_sync, reduce_max_signed, int)
SIMT_REDUCTION(__reduce_and_sync, reduce_and, unsigned)
SIMT_REDUCTION(__reduce_or_sync, reduce_or, unsigned)
SIMT_REDUCTION(__reduce_xor_sync, reduce_xor, unsigned)
#undef SIMT_REDUCTION

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, SIMT_HERE) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a match requires a value of 4 or 8 bytes");
    simt_u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return static_cast<unsigned>(simt::collective(simt::match_any, mask, bits, 0, file, line));
}

template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all_equal, SIMT_HERE) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a match requires a value of 4 or 8 bytes");
    simt_u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    unsigned who =
        static_cast<unsigned>(simt::collective(simt::match_all, mask, bits, 0, file, line));
    *all_equal = who != 0;
    return who;
}
