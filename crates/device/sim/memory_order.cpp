// What orders memory between threads, told to the thread sanitizer.
//
// Atomics are relaxed, as on the GPU. A fence makes this thread's next atomic
// writes release, and acquires what its last atomic reads saw. Accesses to
// volatile words count as relaxed atomics: the compiler calls the functions at
// the end before each of them.
#include "runtime.h"

#if defined(SIMT_TSAN)
#include <sanitizer/tsan_interface.h>
#include <sanitizer/tsan_interface_atomic.h>
#include <sys/mman.h>

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace simt {

void order_release(void* tag) { __tsan_release(tag); }
void order_acquire(void* tag) { __tsan_acquire(tag); }

// Fresh pages have no history; what they held is written back by the caller.
void order_forget(char* memory, size_t bytes) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

void atomic_read(const volatile void* address) {
    Thread& thread = *me();
    thread.read[thread.reads++ % 4] = address;
}

int write_order() { return me()->fenced ? __ATOMIC_RELEASE : __ATOMIC_RELAXED; }

void fence() {
    Thread& thread = *me();
    thread.fenced = true;
    unsigned known = thread.reads < 4 ? thread.reads : 4;
    for (unsigned i = 0; i < known; i++) {
        __tsan_acquire(const_cast<void*>(thread.read[i]));
    }
}

static __tsan_memory_order tsan_write_order() {
    return me()->fenced ? __tsan_memory_order_release : __tsan_memory_order_relaxed;
}

}  // namespace simt

#define SIMT_VOLATILE(bytes, bits)                                                        \
    extern "C" SIMT_HIDDEN void __tsan_volatile_read##bytes(void* address) {              \
        __tsan_atomic##bits##_load(static_cast<__tsan_atomic##bits*>(address),            \
                                   __tsan_memory_order_relaxed);                          \
        simt::atomic_read(address);                                                       \
    }                                                                                     \
    extern "C" SIMT_HIDDEN void __tsan_volatile_write##bytes(void* address) {             \
        __tsan_atomic##bits##_fetch_add(static_cast<__tsan_atomic##bits*>(address), 0,    \
                                        simt::tsan_write_order());                        \
    }
SIMT_VOLATILE(1, 8)
SIMT_VOLATILE(2, 16)
SIMT_VOLATILE(4, 32)
SIMT_VOLATILE(8, 64)

#endif
