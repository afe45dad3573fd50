// Loops whose lengths differ from lane to lane, one inside the other, with a branch in the inner one.
extern "C" __global__ void diverge(int n, const unsigned *seeds, unsigned *lengths, float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned at = seeds[i], length = 0;
    float value = 1.0f;
    while (at != 1) {
        if (at & 1) {
            at = 3 * at + 1;
            value = __fmaf_rn(value, 0.75f, 0.5f);
        } else {
            at >>= 1;
            for (unsigned k = 0; k < (length & 3); k++) value = __fmaf_rz(value, 1.0625f, -0.25f);
        }
        length++;
    }
    lengths[i] = length;
    values[i] = value;
}
