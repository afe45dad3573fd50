// Particles, prices and series.

extern "C" __global__ void leapfrog(float4 *position, float4 *velocity, const float4 *force, float step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i], v = velocity[i], f = force[i];
    v.x += step * f.x;
    v.y += step * f.y;
    v.z += step * f.z;
    p.x += step * v.x;
    p.y += step * v.y;
    p.z += step * v.z;
    position[i] = p;
    velocity[i] = v;
}

extern "C" __global__ void lennard_jones(float *energy, const float4 *atoms, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float total = 0;
    for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        float x = atoms[i].x - atoms[j].x, y = atoms[i].y - atoms[j].y, z = atoms[i].z - atoms[j].z;
        float inverse = 1 / (x * x + y * y + z * z + 0.01f), sixth = inverse * inverse * inverse;
        total += 4 * (sixth * sixth - sixth);
    }
    energy[i] = total;
}

extern "C" __global__ void runge_kutta(double *y, double step, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = y[i];
    for (int s = 0; s < steps; ++s) {
        double k1 = -v * v, a = v + 0.5 * step * k1;
        double k2 = -a * a, b = v + 0.5 * step * k2;
        double k3 = -b * b, c = v + step * k3;
        double k4 = -c * c;
        v += step / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    y[i] = v;
}

extern "C" __global__ void binomial_option(float *price, float spot, float strike, float up, float down, int steps)
{
    __shared__ float value[65];
    int t = threadIdx.x;
    steps = min(steps, 63);
    float s = spot;
    for (int j = 0; j < steps; ++j) s = j < t ? s * up : s * down;
    value[t] = fmaxf(s - strike, 0.0f);
    __syncthreads();
    for (int step = steps; step > 0; --step) {
        float next = t < step ? 0.5f * (value[t] + value[t + 1]) : 0;
        __syncthreads();
        if (t < step) value[t] = next;
        __syncthreads();
    }
    if (t == 0) price[blockIdx.x] = value[0];
}

extern "C" __global__ void polynomial_sine(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float turns = rintf(x[i] * 0.31830988f), r = fmaf(turns, -3.14159274f, x[i]), square = r * r;
    float s = fmaf(square, 2.7181e-6f, -1.9839e-4f);
    s = fmaf(s, square, 8.3333e-3f);
    s = fmaf(s, square, -0.16666667f);
    s = fmaf(s * square, r, r);
    y[i] = (int)turns & 1 ? -s : s;
}

extern "C" __global__ void recurrence(double *y, const double *x, double a, double b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double s = 0, t = 0;
    for (int j = 0; j < n; ++j) {
        double next = x[j] + a * s - b * t;
        t = s;
        s = next;
    }
    y[i] = s - t;
}

extern "C" __global__ void ray_sphere(float *distance, const float4 *rays, float4 sphere, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 d = rays[i];
    float b = d.x * sphere.x + d.y * sphere.y + d.z * sphere.z;
    float c = sphere.x * sphere.x + sphere.y * sphere.y + sphere.z * sphere.z - sphere.w * sphere.w;
    float under = b * b - c;
    distance[i] = under < 0 ? -1 : b - __fsqrt_rn(under);
}

extern "C" __global__ void wave(float *next, const float *now, const float *before, float courant, int n)
{
    extern __shared__ float held[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    held[threadIdx.x + 1] = i < n ? now[i] : 0;
    if (threadIdx.x == 0) held[0] = i > 0 ? now[i - 1] : 0;
    if (threadIdx.x == blockDim.x - 1) held[blockDim.x + 1] = i + 1 < n ? now[i + 1] : 0;
    __syncthreads();
    if (i >= n) return;
    float left = held[threadIdx.x], here = held[threadIdx.x + 1], right = held[threadIdx.x + 2];
    next[i] = 2 * here - before[i] + courant * courant * (left - 2 * here + right);
}
