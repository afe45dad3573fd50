/* Runs the kernels of kernels.cl on request, so that crates/exec/benches/kernels.rs can take turns with them.
 *
 * A request is a line `KERNEL GROUP_X GROUP_Y` (`k3 16 16`); the answer is a line with the seconds of processor time
 * that one run took, buffers and compilation left aside. Sizes and data are those of the benchmark.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../peer.h"

static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void check(cl_int status, const char *what)
{
    if (status != CL_SUCCESS) {
        fprintf(stderr, "pocl: %s: OpenCL error %d\n", what, status);
        exit(1);
    }
}

static cl_mem numbers(size_t count, uint64_t seed, float below)
{
    float *values = malloc(count * sizeof *values);
    cl_int status;
    fill(values, count, seed, below);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof *values, values,
                                   &status);
    check(status, "buffer");
    free(values);
    return buffer;
}

struct work {
    const char *name;
    size_t global[2];
    void (*set_up)(struct work *);
    cl_kernel kernel;
    int arguments;
};

static void argument(struct work *work, size_t size, const void *value)
{
    check(clSetKernelArg(work->kernel, work->arguments++, size, value), work->name);
}

static void number(struct work *work, cl_int value)
{
    argument(work, sizeof value, &value);
}

static void buffer(struct work *work, size_t count, uint64_t seed, float below)
{
    cl_mem memory = numbers(count, seed, below);
    argument(work, sizeof memory, &memory);
}

enum { N1 = 1 << 24, N2 = 1 << 22, N3 = 512, N4 = 1 << 20, N5 = 1 << 18, SIDE = 2048 };

static void set_up_k1(struct work *work)
{
    number(work, N1);
    number(work, 0x3f000001);
    buffer(work, N1, 1, 1);
    buffer(work, N1, 2, 1);
}

static void set_up_k2(struct work *work)
{
    number(work, N2);
    buffer(work, 17, 3, 1);
    buffer(work, N2, 4, 1);
    buffer(work, N2, 1, 1);
}

static void set_up_k3(struct work *work)
{
    number(work, N3);
    buffer(work, N3 * N3, 8, 1);
    buffer(work, N3 * N3, 9, 1);
    buffer(work, N3 * N3, 1, 1);
}

static void set_up_k4(struct work *work)
{
    number(work, N4);
    buffer(work, 64, 5, 1);
    buffer(work, N4 + 64, 6, 1);
    buffer(work, N4, 1, 1);
}

static void set_up_k5(struct work *work)
{
    number(work, N5);
    number(work, 100);
    buffer(work, N5, 7, 2);
    buffer(work, N5, 1, 1);
}

static void set_up_stencil(struct work *work)
{
    number(work, SIDE);
    number(work, SIDE);
    number(work, 0x3f000001);
    number(work, 0x3dffffff);
    buffer(work, SIDE * SIDE, 11, 1);
    buffer(work, SIDE * SIDE, 1, 1);
}

static void set_up_reduce(struct work *work)
{
    number(work, N2);
    buffer(work, N2, 12, 1);
    buffer(work, 256, 1, 1);
}

static void set_up_histogram(struct work *work)
{
    uint32_t *bytes = malloc(N2 * sizeof *bytes);
    cl_int status;
    fill((float *)bytes, N2, 14, 1);
    for (size_t i = 0; i < N2; i++)
        bytes[i] *= 0x9e3779b9u;
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, N2 * sizeof *bytes, bytes, &status);
    check(status, "buffer");
    free(bytes);
    number(work, 4 * N2);
    argument(work, sizeof memory, &memory);
    buffer(work, 256, 1, 0);
}

static void set_up_softmax(struct work *work)
{
    buffer(work, N2, 15, 8);
    buffer(work, N2, 1, 1);
}

static void set_up_layer_norm(struct work *work)
{
    buffer(work, N2, 16, 8);
    buffer(work, 1024, 17, 1);
    buffer(work, 1024, 18, 1);
    buffer(work, N2, 1, 1);
}

static void set_up_bitonic(struct work *work)
{
    buffer(work, 1 << 20, 19, 1);
}

static void set_up_fft_stage(struct work *work)
{
    number(work, 1 << 20);
    number(work, 1 << 10);
    buffer(work, 2 << 20, 20, 1);
    buffer(work, 1 << 20, 21, 1);
    buffer(work, 2 << 20, 1, 1);
}

static void set_up_lookup(struct work *work)
{
    number(work, N2);
    number(work, 4096);
    buffer(work, 4097, 22, 1);
    buffer(work, N2, 23, 1);
    buffer(work, N2, 1, 1);
}

int main(int count, char **arguments)
{
    struct work works[] = {
        {"k1", {N1, 1}, set_up_k1, 0, 0},
        {"k2", {N2, 1}, set_up_k2, 0, 0},
        {"k3", {N3, N3}, set_up_k3, 0, 0},
        {"k4", {N4, 1}, set_up_k4, 0, 0},
        {"k5", {N5, 1}, set_up_k5, 0, 0},
        {"stencil", {SIDE, SIDE}, set_up_stencil, 0, 0},
        {"reduce", {1 << 16, 1}, set_up_reduce, 0, 0},
        {"histogram", {1 << 16, 1}, set_up_histogram, 0, 0},
        {"softmax", {N2 / 4, 1}, set_up_softmax, 0, 0},
        {"layer_norm", {N2 / 4, 1}, set_up_layer_norm, 0, 0},
        {"bitonic", {1 << 19, 1}, set_up_bitonic, 0, 0},
        {"fft_stage", {1 << 19, 1}, set_up_fft_stage, 0, 0},
        {"lookup", {N2, 1}, set_up_lookup, 0, 0},
    };
    const size_t all = sizeof works / sizeof *works;
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    char *source = calloc(1, 1 << 16);
    FILE *file = fopen(count > 1 ? arguments[1] : "kernels.cl", "r");
    if (!file || fread(source, 1, (1 << 16) - 1, file) == 0) {
        fprintf(stderr, "pocl: cannot read the kernels: give kernels.cl as the argument\n");
        return 2;
    }
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "context");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "queue");
    program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &status);
    check(status, "program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");

    char name[16];
    size_t group[2];
    while (scanf("%15s %zu %zu", name, &group[0], &group[1]) == 3) {
        struct work *work = NULL;
        for (size_t i = 0; i < all; i++)
            if (strcmp(works[i].name, name) == 0)
                work = &works[i];
        if (!work) {
            fprintf(stderr, "pocl: no kernel %s\n", name);
            return 2;
        }
        if (!work->kernel) {
            work->kernel = clCreateKernel(program, work->name, &status);
            check(status, work->name);
            work->set_up(work);
        }
        double start = seconds();
        check(clEnqueueNDRangeKernel(queue, work->kernel, 2, NULL, work->global, group, 0, NULL, NULL), name);
        check(clFinish(queue), name);
        printf("%.9f\n", seconds() - start);
        fflush(stdout);
    }
    return 0;
}
