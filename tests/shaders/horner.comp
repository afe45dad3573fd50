// A polynomial by Horner's rule; coefficients in a uniform buffer, four a row; how many is asked of the array.
#version 450
layout(local_size_x = 32) in;
layout(std140, set = 1, binding = 0) uniform C { vec4 coefficients[4]; };
layout(std430, set = 0, binding = 3) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Y { float y[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < uint(x.length())) {
        float value = coefficients[3].w;
        for (int k = 14; k >= 0; --k) value = fma(value, x[i], coefficients[k / 4][k % 4]);
        y[i] = value;
    }
}
