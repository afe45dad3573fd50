// Surface objects: bits read and written, x in bytes.
#include <cuda_runtime.h>

extern "C" __global__ void surfaces(cudaSurfaceObject_t wide, cudaSurfaceObject_t moved, cudaSurfaceObject_t bytes,
                                    cudaSurfaceObject_t halves, cudaSurfaceObject_t solid, cudaSurfaceObject_t layers,
                                    cudaSurfaceObject_t line, float *sums) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float4 texel = surf2Dread<float4>(wide, (x - 2) * 16, y + 1, cudaBoundaryModeClamp);
    surf2Dwrite(make_float4(texel.y, texel.x, texel.w, texel.z), moved, (x - 1) * 16, y + 2, cudaBoundaryModeZero);
    uchar4 small = surf2Dread<uchar4>(bytes, x * 4, y);
    surf2Dwrite(make_uchar4(small.w, small.x + 1, small.y * 2, small.z), bytes, x * 4, y);
    ushort2 half = surf2Dread<ushort2>(halves, (x + y) * 4, y - 1, cudaBoundaryModeZero);
    int cell = surf3Dread<int>(solid, (x & 3) * 4, y, x >> 2);
    surf3Dwrite(cell * 3 + x, solid, (x & 3) * 4, y, x >> 2);
    long long both = surf2DLayeredread<long long>(layers, (x & 3) * 8, y, x >> 2);
    surf2DLayeredwrite(both * 5 + y, layers, (x & 3) * 8, y, x >> 2);
    if (y == 0)
        surf1Dwrite((short)(half.x + x * 7), line, x * 2);
    // All write the last one.
    surf1Dwrite((short)0x1234, line, x * 2 + 100, cudaBoundaryModeClamp);
    sums[y * 8 + x] = texel.x + half.y;
}
