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
    cl_kernel kernel;
};

static void argument(struct work *work, int place, size_t size, const void *value)
{
    check(clSetKernelArg(work->kernel, place, size, value), work->name);
}

int main(int count, char **arguments)
{
    enum { N1 = 1 << 24, N2 = 1 << 22, N3 = 512, N4 = 1 << 20, N5 = 1 << 18 };
    struct work works[] = {{"k1", {N1, 1}, 0}, {"k2", {N2, 1}, 0}, {"k3", {N3, N3}, 0}, {"k4", {N4, 1}, 0}, {"k5", {N5, 1}, 0}};
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
    for (int i = 0; i < 5; i++) {
        works[i].kernel = clCreateKernel(program, works[i].name, &status);
        check(status, works[i].name);
    }
    cl_int n[] = {N1, N2, N3, N4, N5}, rounds = 100;
    for (int i = 0; i < 5; i++)
        argument(&works[i], 0, sizeof(cl_int), &n[i]);
    uint32_t half = 0x3f000001;
    cl_mem x1 = numbers(N1, 1, 1), y1 = numbers(N1, 2, 1), h2 = numbers(17, 3, 1), x2 = numbers(N2, 4, 1);
    cl_mem y2 = numbers(N2, 1, 1), a3 = numbers(N3 * N3, 8, 1), b3 = numbers(N3 * N3, 9, 1), c3 = numbers(N3 * N3, 1, 1);
    cl_mem h4 = numbers(64, 5, 1), x4 = numbers(N4 + 64, 6, 1), y4 = numbers(N4, 1, 1), c5 = numbers(N5, 7, 2);
    cl_mem y5 = numbers(N5, 1, 1);
    argument(&works[0], 1, sizeof half, &half);
    argument(&works[0], 2, sizeof x1, &x1);
    argument(&works[0], 3, sizeof y1, &y1);
    argument(&works[1], 1, sizeof h2, &h2);
    argument(&works[1], 2, sizeof x2, &x2);
    argument(&works[1], 3, sizeof y2, &y2);
    argument(&works[2], 1, sizeof a3, &a3);
    argument(&works[2], 2, sizeof b3, &b3);
    argument(&works[2], 3, sizeof c3, &c3);
    argument(&works[3], 1, sizeof h4, &h4);
    argument(&works[3], 2, sizeof x4, &x4);
    argument(&works[3], 3, sizeof y4, &y4);
    argument(&works[4], 1, sizeof rounds, &rounds);
    argument(&works[4], 2, sizeof c5, &c5);
    argument(&works[4], 3, sizeof y5, &y5);

    char name[16];
    size_t group[2];
    while (scanf("%15s %zu %zu", name, &group[0], &group[1]) == 3) {
        struct work *work = NULL;
        for (int i = 0; i < 5; i++)
            if (strcmp(works[i].name, name) == 0)
                work = &works[i];
        if (!work) {
            fprintf(stderr, "pocl: no kernel %s\n", name);
            return 2;
        }
        double start = seconds();
        check(clEnqueueNDRangeKernel(queue, work->kernel, 2, NULL, work->global, group, 0, NULL, NULL), name);
        check(clFinish(queue), name);
        printf("%.9f\n", seconds() - start);
        fflush(stdout);
    }
    return 0;
}
