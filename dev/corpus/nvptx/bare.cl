// OpenCL C for the NVPTX target alone: no library, the target's own builtins.
int thread(void) { return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x(); }
__attribute__((noinline)) float helper(float a, float b, int *sign) { *sign = a < b ? -1 : 1; return a * b + a / b; }
kernel void saxpy(int n, float a, global const float *x, global float *y) { int i = thread(); if (i < n) y[i] = a * x[i] + y[i]; }
kernel void loops(int n, global const double *x, global double *y) {
    int i = thread();
    double sum = 0;
    for (int k = i; k < n; k += 7) sum += x[k] * x[n - 1 - k] - (k & 1 ? x[i] : 2.0);
    if (i < n) y[i] = sum;
}
kernel void branches(int n, global const int *x, global long *y) {
    int i = thread(), v, sign;
    if (i >= n) return;
    v = x[i];
    if (v > 100) v = v / 3 - (v % 11); else if (v < -100) v = -v; else v <<= v & 3;
    switch (v & 15) { case 1: v += 7; break; case 3: v ^= 0x55; break; case 4: case 5: v *= 3; break; case 9: v = -v; break; case 12: v |= 1; }
    y[i] = v * 12345678901l + (long)helper((float)v, 3.0f, &sign) * sign;
}
kernel void arrays(int n, global const unsigned char *x, global unsigned short *y) {
    int i = thread();
    unsigned char local_[64];
    if (i >= n) return;
    for (int k = 0; k < 64; k++) local_[k] = x[(i + k) % n];
    unsigned sum = 0;
    for (int k = 0; k < 64; k++) sum += local_[local_[k] & 63];
    y[i] = sum;
}
