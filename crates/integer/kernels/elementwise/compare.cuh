// Comparison of two numbers.
#pragma once
#include "groups.cuh"

enum { EQUAL, LESS, GREATER };

// Compares x with y for each number; `limbs` are those of the longer one. Random numbers differ in
// their highest limbs, so few other limbs are read.
DEVICE void comparisons(const Places& places, const Batch& x, const Batch& y, u32 limbs, u32 (&found)[KEPT]) {
    topmost_chunks(limbs, found, [&](u32 r, u32 from) {
        Chunk c = places.load(x, r, from), d = places.load(y, r, from);
        // The highest limbs that differ, or equal ones. (A stored comparison instead is compiled
        // wrongly for limbs from 2^31 on when GCC 12.2 vectorises the loop.)
        u32 p = c.limbs[0], q = d.limbs[0];
        for (u32 v = 1; v < VECTOR; v++) {
            if (c.limbs[v] != d.limbs[v]) p = c.limbs[v], q = d.limbs[v];
        }
        return p == q ? EQUAL : p < q ? LESS : GREATER;
    });
}
