// The run time as one translation unit, so that a barrier's few steps are inlined.
#include "fiber.cpp"
#include "scheduler.cpp"
#include "barrier.cpp"
#include "memory_order.cpp"
#include "shared_memory.cpp"
#include "stage.cpp"
#include "warp.cpp"
