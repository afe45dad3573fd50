// A GPU through the driver's interface, found at run time: the program builds and starts without a driver.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "machine.h"
#include "machine_kernels.h"

namespace {

[[noreturn]] void die(const std::string &what) {
    fprintf(stderr, "capture: %s\n", what.c_str());
    exit(2);
}

// The driver's functions, each under the name that cuda.h gives it.
struct Driver {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    template <class F> F *find(const char *name) {
        void *function = library ? dlsym(library, name) : nullptr;
        if (!function) die(std::string("no CUDA driver: libcuda.so.1 has no ") + name);
        return reinterpret_cast<F *>(function);
    }
};
Driver &driver() {
    static Driver driver;
    return driver;
}
#define TEXT(name) #name
#define SYMBOL(name) TEXT(name)
// cuda.h defines some names as their newer versions: the macro's value is the symbol.
#define CALL(name, ...) call(#name, driver().find<decltype(name)>(SYMBOL(name)), __VA_ARGS__)
template <class F, class... A> void call(const char *name, F *function, A... arguments) {
    CUresult result = function(arguments...);
    if (result == CUDA_SUCCESS) return;
    const char *text = "unknown";
    driver().find<decltype(cuGetErrorName)>("cuGetErrorName")(result, &text);
    die(std::string(name) + ": " + text);
}

const uint32_t CHUNK = 1u << 24, THREADS = 256;

class Cuda : public Machine {
    CUdevice device = 0;
    CUmodule checks = nullptr, forms = nullptr;
    CUdeviceptr a = 0, b = 0, c = 0, d = 0, counts = 0, kept = 0;

    CUfunction function(CUmodule module, const std::string &name) {
        CUfunction function;
        CALL(cuModuleGetFunction, &function, module, name.c_str());
        return function;
    }
    void launch(CUfunction function, uint32_t threads, void **arguments) {
        CALL(cuLaunchKernel, function, (threads + THREADS - 1) / THREADS, 1u, 1u, THREADS, 1u, 1u, 0u,
             CUstream(nullptr), arguments, static_cast<void **>(nullptr));
    }
    // The instruction over what lies in a, b and c.
    void compute(const Entry &entry, uint32_t count) {
        uint32_t threads = count / uint32_t(entry.lanes);
        void *arguments[] = {&a, &b, &c, &d, &threads};
        launch(function(forms, entry.name), threads, arguments);
    }

public:
    explicit Cuda(const std::string &check_module) {
        CALL(cuInit, 0u);
        CALL(cuDeviceGet, &device, 0);
        CUcontext context;
        CALL(cuDevicePrimaryCtxRetain, &context, device);
        CALL(cuCtxSetCurrent, context);
        CALL(cuModuleLoad, &checks, check_module.c_str());
        for (CUdeviceptr *array : {&a, &b, &c, &d}) CALL(cuMemAlloc, array, size_t(CHUNK) * 8);
        CALL(cuMemAlloc, &counts, CLASSES * sizeof(uint64_t));
        CALL(cuMemAlloc, &kept, CLASSES * KEPT_OF_A_CLASS * sizeof(Mismatch));
    }

    std::string describe() override {
        char name[256];
        int major, minor, version;
        CALL(cuDeviceGetName, name, 256, device);
        CALL(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        CALL(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        CALL(cuDriverGetVersion, &version);
        std::ostringstream text;
        text << name << " (sm_" << major << minor << "), CUDA driver " << version / 1000 << "." << version % 1000 / 10;
        return text.str();
    }

    std::string load(const std::string &path) override {
        std::ifstream file(path, std::ios::binary);
        std::string image((std::istreambuf_iterator<char>(file)), {});
        if (forms) CALL(cuModuleUnload, forms);
        forms = nullptr;
        CUresult result = driver().find<decltype(cuModuleLoadData)>(SYMBOL(cuModuleLoadData))(&forms, image.c_str());
        if (result == CUDA_SUCCESS) return "";
        forms = nullptr;
        return "the driver refuses " + path + " (" + std::to_string(int(result)) + ")";
    }

    std::vector<uint64_t> run(const Entry &entry, const std::vector<Triple> &operands) override {
        std::vector<uint64_t> results(operands.size());
        size_t in = size_t(entry.op.factors.width()) / 8, out = size_t(entry.op.format.width()) / 8;
        for (size_t first = 0; first < operands.size(); first += CHUNK) {
            size_t count = std::min(operands.size() - first, size_t(CHUNK));
            // An odd rest of a form with two lanes: one more that nobody reads.
            size_t padded = (count + size_t(entry.lanes) - 1) / size_t(entry.lanes) * size_t(entry.lanes);
            std::vector<uint8_t> packed[3] = {std::vector<uint8_t>(padded * in), std::vector<uint8_t>(padded * in),
                                              std::vector<uint8_t>(padded * out)};
            for (size_t i = 0; i < count; i++) {
                const Triple &t = operands[first + i];
                memcpy(&packed[0][i * in], &t.a, in);
                memcpy(&packed[1][i * in], &t.b, in);
                memcpy(&packed[2][i * out], &t.c, out);
            }
            CUdeviceptr arrays[3] = {a, b, c};
            for (int i = 0; i < 3; i++)
                CALL(cuMemcpyHtoD, arrays[i], static_cast<const void *>(packed[i].data()), packed[i].size());
            compute(entry, uint32_t(padded));
            CALL(cuMemcpyDtoH, static_cast<void *>(packed[2].data()), d, packed[2].size());
            for (size_t i = 0; i < count; i++) memcpy(&results[first + i], &packed[2][i * out], out);
        }
        return results;
    }

    Tally sweep(const Entry &entry, Source source) override {
        Tally tally;
        tally.compared = source.count;
        std::vector<uint64_t> zeros(CLASSES);
        CALL(cuMemcpyHtoD, counts, static_cast<const void *>(zeros.data()), CLASSES * sizeof(uint64_t));
        uint32_t capacity = KEPT_OF_A_CLASS;
        for (uint64_t first = 0; first < source.count; first += CHUNK) {
            Work work = {entry.op, source.random, source.seed, first,
                         uint32_t(std::min(source.count - first, uint64_t(CHUNK)))};
            void *made[] = {&work, &a, &b, &c};
            launch(function(checks, "generate"), work.count, made);
            compute(entry, work.count);
            void *compared[] = {&work, &d, &counts, &kept, &capacity};
            launch(function(checks, "compare"), work.count, compared);
        }
        CALL(cuMemcpyDtoH, static_cast<void *>(tally.counts.data()), counts, CLASSES * sizeof(uint64_t));
        for (size_t which = 0; which < CLASSES; which++) {
            size_t stored = std::min(tally.counts[which], uint64_t(capacity)), old = tally.kept.size();
            if (stored == 0) continue;
            tally.kept.resize(old + stored);
            CALL(cuMemcpyDtoH, static_cast<void *>(&tally.kept[old]),
                 CUdeviceptr(kept + which * capacity * sizeof(Mismatch)), stored * sizeof(Mismatch));
        }
        return tally;
    }

    std::string check_reference(const Operation &op, uint64_t count) override {
        Work work = {op, true, 7, 0, uint32_t(count)};
        void *arguments[] = {&work, &d};
        launch(function(checks, "evaluate"), work.count, arguments);
        std::vector<uint64_t> results(count);
        CALL(cuMemcpyDtoH, static_cast<void *>(results.data()), d, count * 8);
        for (uint64_t i = 0; i < count; i++) {
            Triple t = aimed(op, work.seed, i);
            if (reference(op, default_policy(op.format), t.a, t.b, t.c) != results[i])
                return "the reference differs between host and GPU on random triple " + std::to_string(i);
        }
        return "";
    }
};

}  // namespace

std::unique_ptr<Machine> cuda_machine(const std::string &check_module) { return std::make_unique<Cuda>(check_module); }
