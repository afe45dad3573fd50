// The kernels of crates/exec/benches/kernels.ptx in OpenCL C, as one writes them.

kernel void k1(int n, float a, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = fma(a, x[i], y[i]);
}

kernel void k2(int n, global const float *coefficients, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float sum = coefficients[0];
    for (int k = 1; k <= 16; k++)
        sum = fma(sum, x[i], coefficients[k]);
    y[i] = sum;
}

kernel void k3(int n, global const float *a, global const float *b, global float *c)
{
    int column = get_global_id(0), row = get_global_id(1);
    if (max(column, row) >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = fma(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}

kernel void k4(int n, global const float *h, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0;
    for (int tap = 0; tap < 64; tap++)
        sum = fma(h[tap], x[i + tap], sum);
    y[i] = sum;
}

kernel void k5(int n, int rounds, global const float *c, global int *y)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float z = 0;
    int count = 0;
    do {
        z = fma(z, z, c[i]);
        count++;
    } while (z < 4 && count < rounds);
    y[i] = count;
}
