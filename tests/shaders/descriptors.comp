// An array of buffers, indexed by constants and by what the work says.
#version 450
layout(local_size_x = 16) in;
layout(push_constant) uniform Push { uint chosen; };
layout(std430, binding = 0) buffer B { uint count; float b[]; } parts[3];
layout(std430, binding = 1) writeonly buffer R { float r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float sum = 0;
    for (uint k = 0; k < 3; k++) sum += parts[k].b[i];
    parts[2].b[i] = parts[chosen].b[i] * 2 + float(parts[1].b.length());
    r[i] = sum;
    if (i == 0) parts[chosen].count = 7;
}
