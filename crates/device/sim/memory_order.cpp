// What orders memory between threads, told to the thread sanitizer.
//
// Atomics are relaxed, as on the GPU. A fence makes this thread's next atomic
// writes release, and acquires what its last atomic reads saw. Accesses to
// volatile words count as relaxed atomics: the compiler calls the functions at
// the end before each of them.
#include "runtime.h"

#if defined(SIMT_TSAN)
#include <sanitizer/tsan_interface.h>
#include <sys/mman.h>

// Not every compiler has a header for these.
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

}  // namespace simt

// A read is told as an atomic read, a write as an atomic addition of 0 just before it.
#define SIMT_VOLATILE(bytes, bits, word)                                                  \
    extern "C" {                                                                          \
    word __tsan_atomic##bits##_load(const volatile void* address, int order);             \
    word __tsan_atomic##bits##_fetch_add(volatile void* address, word value, int order);  \
    SIMT_HIDDEN void __tsan_volatile_read##bytes(void* address) {                         \
        __tsan_atomic##bits##_load(address, __ATOMIC_RELAXED);                            \
        simt::atomic_read(address);                                                       \
    }                                                                                     \
    SIMT_HIDDEN void __tsan_volatile_write##bytes(void* address) {                        \
        __tsan_atomic##bits##_fetch_add(address, 0, simt::write_order());                 \
    }                                                                                     \
    }
SIMT_VOLATILE(1, 8, unsigned char)
SIMT_VOLATILE(2, 16, unsigned short)
SIMT_VOLATILE(4, 32, unsigned)
SIMT_VOLATILE(8, 64, unsigned long)

#endif
