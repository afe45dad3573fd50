// Specialisation: the workgroup's size, an array's length, a choice, a factor, and what is computed of them.
#version 450
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 3) const int terms = 4;
layout(constant_id = 4) const bool doubled = false;
layout(constant_id = 5) const float factor = 1.5;
layout(constant_id = 9) const uint mask = 0xff00u;
const int length = terms * 2 + 1;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
layout(std430, binding = 2) writeonly buffer Sizes { uint sizes[]; };
void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    float table[length];
    for (int k = 0; k < length; ++k) table[k] = float(k) * factor;
    float value = x[i];
    for (int k = 0; k < terms; ++k) value = fma(value, factor, table[length - 1 - k]);
    y[i] = doubled ? value + value : value;
    sizes[i] = gl_WorkGroupSize.x ^ (mask >> 4) ^ uint(length);
}
