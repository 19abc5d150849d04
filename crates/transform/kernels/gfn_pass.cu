// A pass of a transform of N elements over Z/pZ, p = r^k + 1, on 2^LOG_POINTS points each. The passes
// transform from natural order to natural order (Stockham). With N = s·2^LOG_POINTS·m, column
// c = q + s·p, q < s, p < m, consists of the points in[c + i·N/2^LOG_POINTS], each multiplied by its
// twiddle first. Their transform is written to out[q + s·(i + 2^LOG_POINTS·p)].
//
//   TWIDDLED   whether twiddles are used: that of place j of `in` has number j >> log_run
//   RESIDUES   whether twiddles are given as transforms, as gfn_spectra.cu makes them, instead of
//   digits; `roots` as there
//
// and the macros of gfn_tile.cuh, and with RESIDUES those of gfn_residues.cuh. Digit d of element j is
// word d·stride + j; gridDim.y transforms are stored one after another. With `reflected`, output j is
// written to N − j mod N: the inverse transform up to the factor 1/N.
#include "gfn_tile.cuh"
#if RESIDUES
#include "gfn_residues.cuh"
#endif

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    pass(const u64* __restrict__ in, u64* __restrict__ out, const u64* __restrict__ twiddles,
         const void* __restrict__ roots, u64 stride, u64 twiddle_stride, u32 log_n, u32 log_s, u32 log_run,
         u32 reflected) {
    DYNAMIC_SHARED(u32, shared);
    Tile tile = {shared};
    u64 base = (u64)blockIdx.y << log_n;
    u32 first_column = blockIdx.x * COLUMNS, log_apart = log_n - LOG_POINTS;
    in += base, out += base;

    auto place_of = [&](u32 e) { return place(e / COLUMNS, e % COLUMNS); };
    auto input = [&](u32 e) { return first_column + e % COLUMNS + (e / COLUMNS << log_apart); };
    if constexpr (TWIDDLED && !RESIDUES) {
#pragma unroll 1
        for (u32 e = threadIdx.x; e < ELEMENTS; e += THREADS) {
            u32 j = input(e);
            u64 x[DIGITS], y[DIGITS];
#pragma unroll
            for (u32 d = 0; d < DIGITS; d++) {
                x[d] = in[d * stride + j];
                y[d] = twiddles[d * twiddle_stride + (j >> log_run)];
            }
            multiply_element(tile, place_of(e), x, y);
        }
    } else {
#pragma unroll 8
        for (u32 t = threadIdx.x; t < ELEMENTS * DIGITS; t += THREADS) {
            u32 e = t % ELEMENTS, d = t / ELEMENTS;
            tile.put(d, place_of(e), widen(in[d * stride + input(e)]));
        }
    }
#if RESIDUES
    __syncthreads();
    constexpr u32 TEAMS = THREADS / TEAM;
    // Lanes without an element execute the same steps, and write nothing.
#pragma unroll 1
    for (u32 first = 0; first < ELEMENTS; first += TEAMS) {
        u32 e = first + threadIdx.x / TEAM, lane = threadIdx.x % 32, g = lane % TEAM;
        bool is_needed = e < ELEMENTS;
        e = min(e, ELEMENTS - 1);
        u32 at = place_of(e);
        const double* values = (const double*)twiddles + (input(e) >> log_run);
        Wide z[HELD];
        multiply_residues(
            z, (const Factor*)roots, lane, [&](u32 d) { return is_needed ? tile.take_digit(d, at) : 0; },
            [&](u32 prime, u32 n) { return values[(prime * DIGITS + n) * twiddle_stride]; });
        // All lanes of the team have read their digits.
        __syncwarp();
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            if (is_needed) tile.put(g + TEAM * i, at, z[i]);
        }
    }
#endif
    __syncthreads();
    transform<LOG_POINTS>(tile);

    // Adjacent threads write adjacent elements.
    u32 log_inner = min(log_s, (u32)LOG_COLUMNS);
#pragma unroll 1
    for (u32 e = threadIdx.x; e < ELEMENTS; e += THREADS) {
        u32 i = (e >> log_inner) % POINTS;
        u32 column = (e & ((1u << log_inner) - 1)) | (e >> (log_inner + LOG_POINTS) << log_inner);
        u32 c = first_column + column, p = c >> log_s, q = c - (p << log_s);
        u32 j = q + ((i + (p << LOG_POINTS)) << log_s);
        if (reflected) j = (0u - j) & ((1u << log_n) - 1);
        u32 at = place(point_of_output(i), column);
        put_element(out + j, stride, [&](u32 d) { return tile.take(d, at); });
    }
}
