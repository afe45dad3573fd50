// Texture objects, sampled and fetched.
#include <cuda_runtime.h>

extern "C" __global__ void textures(cudaTextureObject_t plane, cudaTextureObject_t fine, cudaTextureObject_t bytes,
                                    cudaTextureObject_t solid, cudaTextureObject_t layers, cudaTextureObject_t line,
                                    cudaTextureObject_t integers, cudaTextureObject_t linear, const float4 *at,
                                    float4 *out, int4 *numbers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = at[i];
    out[10 * i] = tex2D<float4>(plane, p.x, p.y);
    out[10 * i + 1] = tex2D<float4>(fine, p.x, p.y);
    out[10 * i + 2] = tex2D<float4>(bytes, p.x, p.y);
    out[10 * i + 3] = make_float4(tex3D<float>(solid, p.x, p.y, p.z), 0, 0, 0);
    float2 two = tex2DLayered<float2>(layers, p.x, p.y, i % 4);
    float one = tex1D<float>(line, p.w);
    out[10 * i + 4] = make_float4(two.x, two.y, one, tex1Dfetch<float>(linear, i - 3));
    out[10 * i + 5] = tex2Dgather<float4>(fine, p.x, p.y, 2);
    out[10 * i + 6] = tex2DLod<float4>(plane, p.x, p.y, 0.0f);
    out[10 * i + 7] = tex2DGrad<float4>(fine, p.x, p.y, make_float2(0, 0), make_float2(0, 0));
    out[10 * i + 8] = make_float4(tex3DLod<float>(solid, p.z, p.y, p.x, 0.0f), 0, 0, 0);
    out[10 * i + 9] = tex2D<float4>(plane, (float)(i % 8), (float)(i / 8));
    numbers[i] = tex2D<int4>(integers, p.x, p.y);
}
