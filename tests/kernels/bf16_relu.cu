// A layer with relu: two rows of a matrix a thread, accumulated in bf16, the last step rectified by the fma itself.
#include <cuda_bf16.h>

extern "C" __global__ void bf16_relu(int rows, int columns, const __nv_bfloat162 *weights, const __nv_bfloat16 *input,
                                     const __nv_bfloat162 *bias, __nv_bfloat162 *output) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    __nv_bfloat162 sum = bias[row];
    for (int k = 0; k < columns - 1; ++k) sum = __hfma2(weights[k * rows + row], __bfloat162bfloat162(input[k]), sum);
    output[row] = __hfma2_relu(weights[(columns - 1) * rows + row], __bfloat162bfloat162(input[columns - 1]), sum);
}
