// Repeats what a simulator recorded: replay TRACE SEED MODULE... The format is described in
// src/sim/trace.rs. Exits with 0 if every download gives the recorded bytes and no launch faults.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "interface.h"

namespace {

// Fibers are costly under the thread sanitizer.
#if defined(SIMT_TSAN)
constexpr unsigned resident_blocks = 4;
#else
constexpr unsigned resident_blocks = 8;
#endif

[[noreturn]] void fail(const std::string& why) {
    fprintf(stderr, "replay: %s\n", why.c_str());
    exit(1);
}

class Reader {
  public:
    explicit Reader(const char* path) : file(fopen(path, "rb")) {
        if (file == nullptr || bytes(8) != "WPSIM001") fail(std::string("no record: ") + path);
    }

    bool at_end() {
        int next = fgetc(file);
        if (next != EOF) ungetc(next, file);
        return next == EOF;
    }

    uint64_t word() {
        uint64_t word;
        read(&word, sizeof word);
        return word;
    }

    std::string bytes(size_t count) {
        std::string bytes(count, '\0');
        read(&bytes[0], count);
        return bytes;
    }

  private:
    void read(void* to, size_t count) {
        if (fread(to, 1, count, file) != count) fail("the record is cut short");
    }

    FILE* file;
};

// Each allocation has exactly its recorded length, so that the address sanitizer sees the first byte
// past its end.
struct Memory {
    std::map<uint64_t, std::pair<char*, size_t>> allocations;

    char* at(uint64_t number, uint64_t offset) {
        if (number == 0) return nullptr;
        auto found = allocations.find(number);
        if (found == allocations.end() || offset > found->second.second) fail("a bad place");
        return found->second.first + offset;
    }
};

const SimtModule* loaded(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(dlerror());
    auto module = static_cast<const SimtModule*>(dlsym(library, "simt_module"));
    if (module == nullptr) fail(dlerror());
    return module;
}

void launch(Reader& in, Memory& memory, const std::vector<const SimtModule*>& modules,
            uint64_t seed) {
    uint64_t program = in.word();
    std::string name = in.bytes(in.word());
    if (program >= modules.size()) fail("a launch of no program");
    const SimtModule* module = modules[program];
    SimtLaunch launch = {};
    for (unsigned k = 0; k < module->kernel_count; k++) {
        if (name == module->kernels[k].name) launch.kernel = &module->kernels[k];
    }
    if (launch.kernel == nullptr) fail("there is no kernel " + name);
    for (unsigned& n : launch.grid) n = static_cast<unsigned>(in.word());
    for (unsigned& n : launch.block) n = static_cast<unsigned>(in.word());
    launch.shared_bytes = static_cast<unsigned>(in.word());
    std::vector<uint64_t> values(in.word());
    std::vector<void*> arguments;
    for (uint64_t& value : values) {
        bool pointer = in.word() == 'p';
        value = in.word();
        if (pointer) value = reinterpret_cast<uint64_t>(memory.at(value, in.word()));
        arguments.push_back(&value);
    }
    char report[1024] = "";
    launch.resident_blocks = resident_blocks;
    static void* stage;
    launch.stage = &stage;
    launch.seed = seed;
    launch.arguments = arguments.data();
    launch.report = report;
    launch.report_bytes = sizeof report;
    if (module->run(&launch) != 0) fail("kernel " + name + ": " + report);
}

void compare(const char* here, const std::string& recorded, uint64_t number, uint64_t offset) {
    for (size_t i = 0; i < recorded.size(); i++) {
        if (here[i] == recorded[i]) continue;
        fail("allocation " + std::to_string(number) + ", byte " + std::to_string(offset + i) +
             ": " + std::to_string(here[i] & 255) + " here, " +
             std::to_string(recorded[i] & 255) + " when it was recorded");
    }
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) fail("usage: replay TRACE SEED MODULE...");
    // Ends a kernel that hangs.
    alarm(240);
    Reader in(words[1]);
    uint64_t seed = strtoull(words[2], nullptr, 10);
    std::vector<const SimtModule*> modules;
    for (int i = 3; i < count; i++) modules.push_back(loaded(words[i]));
    Memory memory;
    while (!in.at_end()) {
        uint64_t kind = in.word();
        if (kind == 7) {
            launch(in, memory, modules, seed);
            continue;
        }
        uint64_t number = in.word();
        if (kind == 2) {
            free(memory.at(number, 0));
            memory.allocations.erase(number);
            continue;
        }
        uint64_t word = in.word();
        if (kind == 1) {
            char* start = static_cast<char*>(malloc(word));
            if (start == nullptr) fail("out of memory");
            memset(start, 0xa5, word);
            memory.allocations[number] = {start, word};
            continue;
        }
        char* place = memory.at(number, word);
        if (kind == 3 || kind == 4) {
            std::string bytes = in.bytes(in.word());
            if (kind == 3) memcpy(place, bytes.data(), bytes.size());
            if (kind == 4) compare(place, bytes, number, word);
        } else if (kind == 5) {
            uint64_t from = in.word();
            char* source = memory.at(from, in.word());
            memmove(place, source, in.word());
        } else if (kind == 6) {
            memset(place, 0, in.word());
        } else {
            fail("a record of unknown kind");
        }
    }
    return 0;
}
