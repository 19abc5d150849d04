// Warp collectives. Each lane stores its value and waits; the last one to arrive computes all results.
#include "runtime.h"

namespace simt {

struct Lanes {
    Thread* threads;
    unsigned mask;

    template <class Visit>
    void each(Visit visit) const {
        for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
            unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
            visit(lane, threads[lane]);
        }
    }
};

static void shuffle_values(const Lanes& lanes) {
    uint64_t values[32];
    lanes.each([&](unsigned lane, Thread& thread) { values[lane] = thread.value; });
    lanes.each([&](unsigned lane, Thread& thread) {
        if (thread.source >= 32 || !(lanes.mask >> thread.source & 1)) {
            fault("%s:%d: lane %u reads the value of lane %u, which is not in the mask 0x%08x or "
                  "does not exist",
                  base_name(thread.site.file), thread.site.line, lane, thread.source, lanes.mask);
        }
        thread.value = values[thread.source];
    });
}

static void match_values(const Lanes& lanes) {
    unsigned equal[32];
    lanes.each([&](unsigned lane, Thread& thread) {
        equal[lane] = 0;
        lanes.each([&](unsigned other, Thread& with) {
            equal[lane] |= static_cast<unsigned>(with.value == thread.value) << other;
        });
    });
    lanes.each([&](unsigned lane, Thread& thread) { thread.value = equal[lane]; });
}

template <class Combine>
static uint64_t reduce(const Lanes& lanes, unsigned start, Combine combine) {
    unsigned result = start;
    lanes.each([&](unsigned, Thread& thread) {
        result = combine(result, static_cast<unsigned>(thread.value));
    });
    return result;
}

static uint64_t common_result(Collective kind, const Lanes& lanes) {
    unsigned first = static_cast<unsigned>(lanes.threads[__builtin_ctz(lanes.mask)].value);
    switch (kind) {
        case ballot:
        case any:
        case all: {
            unsigned truths = 0;
            lanes.each([&](unsigned lane, Thread& thread) {
                truths |= static_cast<unsigned>(thread.value) << lane;
            });
            return kind == ballot ? truths : kind == any ? truths != 0 : truths == lanes.mask;
        }
        case match_all: {
            bool equal = true;
            uint64_t value = lanes.threads[__builtin_ctz(lanes.mask)].value;
            lanes.each([&](unsigned, Thread& thread) { equal = equal && thread.value == value; });
            return equal ? lanes.mask : 0;
        }
        case reduce_add:
            return reduce(lanes, 0, [](unsigned a, unsigned b) { return a + b; });
        case reduce_min_unsigned:
            return reduce(lanes, first, [](unsigned a, unsigned b) { return b < a ? b : a; });
        case reduce_max_unsigned:
            return reduce(lanes, first, [](unsigned a, unsigned b) { return b > a ? b : a; });
        case reduce_min_signed:
            return reduce(lanes, first, [](unsigned a, unsigned b) {
                return static_cast<int>(b) < static_cast<int>(a) ? b : a;
            });
        case reduce_max_signed:
            return reduce(lanes, first, [](unsigned a, unsigned b) {
                return static_cast<int>(b) > static_cast<int>(a) ? b : a;
            });
        case reduce_and:
            return reduce(lanes, ~0u, [](unsigned a, unsigned b) { return a & b; });
        case reduce_or:
            return reduce(lanes, 0, [](unsigned a, unsigned b) { return a | b; });
        case reduce_xor:
            return reduce(lanes, 0, [](unsigned a, unsigned b) { return a ^ b; });
        default: return 0;
    }
}

static void evaluate(Collective kind, const Lanes& lanes) {
    if (kind == shuffle) {
        shuffle_values(lanes);
    } else if (kind == match_any) {
        match_values(lanes);
    } else if (kind != warp_barrier) {
        uint64_t result = common_result(kind, lanes);
        lanes.each([&](unsigned, Thread& thread) { thread.value = result; });
    }
}

// Finds the collective of this kind and mask at which lanes already wait, or makes a new one.
static Pending& pending_at(Warp& warp, Collective kind, unsigned mask) {
    for (unsigned i = 0; i < warp.pending_count; i++) {
        Pending& pending = warp.pending[i];
        if (pending.kind == kind && pending.mask == mask) return pending;
    }
    void* tag = &warp.tags[warp.generation++ % sizeof warp.tags];
    return warp.pending[warp.pending_count++] = {kind, mask, 0, tag};
}

simt_u64 collective(Collective kind, unsigned mask, simt_u64 value, unsigned source,
                    const char* file, int line) {
    Thread& thread = *me();
    Block& block = *thread.home;
    Warp& warp = block.warps[thread.index / 32];
    unsigned lane = thread.index % 32;
    thread.site = {file, line};
    thread.value = value;
    thread.source = source;
    mask &= warp.existing;
    if (!(mask >> lane & 1)) {
        fault("%s:%d: lane %u is not in the mask 0x%08x of the collective that it calls",
              base_name(file), line, lane, mask);
    }
    if ((mask & warp.ended) != 0) {
        fault("%s:%d: lanes missing from a warp collective: lanes 0x%08x of warp %u of block %u "
              "have ended",
              base_name(file), line, mask & warp.ended, thread.index / 32, block.index.x);
    }
    Pending& pending = pending_at(warp, kind, mask);
    pending.arrived |= 1u << lane;
    void* tag = pending.tag;
    // Only __syncwarp orders memory; the other collectives do not.
    if (kind == warp_barrier) order_release(tag);
    if (pending.arrived == mask) {
        Lanes lanes = {&block.threads[thread.index - lane], mask};
        evaluate(kind, lanes);
        pending = warp.pending[--warp.pending_count];
        lanes.each([&](unsigned, Thread& other) {
            if (&other != &thread) make_ready(block, other.index);
        });
    } else {
        thread.state = State::at_collective;
        leave(thread);
    }
    if (kind == warp_barrier) order_acquire(tag);
    return thread.value;
}

}  // namespace simt
