// CUDA's short vectors, with CUDA's alignment, so that the undefined-behaviour sanitizer finds
// misaligned accesses.
#pragma once

#define SIMT_VECTOR2(name, type, bytes)                        \
    struct __attribute__((aligned(bytes))) name {              \
        type x, y;                                             \
    };                                                         \
    inline name make_##name(type x, type y) {                  \
        name v;                                                \
        v.x = x, v.y = y;                                      \
        return v;                                              \
    }

#define SIMT_VECTOR4(name, type, bytes)                        \
    struct __attribute__((aligned(bytes))) name {              \
        type x, y, z, w;                                       \
    };                                                         \
    inline name make_##name(type x, type y, type z, type w) {  \
        name v;                                                \
        v.x = x, v.y = y, v.z = z, v.w = w;                    \
        return v;                                              \
    }

SIMT_VECTOR2(int2, int, 8)
SIMT_VECTOR2(uint2, unsigned, 8)
SIMT_VECTOR2(float2, float, 8)
SIMT_VECTOR2(double2, double, 16)
SIMT_VECTOR2(longlong2, long long, 16)
SIMT_VECTOR2(ulonglong2, unsigned long long, 16)
SIMT_VECTOR4(int4, int, 16)
SIMT_VECTOR4(uint4, unsigned, 16)
SIMT_VECTOR4(float4, float, 16)
SIMT_VECTOR4(double4, double, 16)
SIMT_VECTOR4(longlong4, long long, 16)
SIMT_VECTOR4(ulonglong4, unsigned long long, 16)

#undef SIMT_VECTOR2
#undef SIMT_VECTOR4

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
