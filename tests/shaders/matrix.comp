// Matrices in both orders, rows and columns chosen at run time.
#version 450
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer M { layout(row_major) mat3x2 rows[8]; layout(column_major) mat3x2 columns[8]; };
layout(std430, binding = 1) readonly buffer V { vec3 v[]; };
layout(std430, binding = 2) writeonly buffer R { vec2 r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    precise vec2 first = rows[i] * v[i];
    precise vec2 second = (rows[i] * 3.0 + columns[i]) * v[i];
    precise vec3 third = first * columns[i];
    r[4 * i] = first;
    r[4 * i + 1] = second;
    r[4 * i + 2] = third.xz;
    r[4 * i + 3] = vec2(rows[i][i % 3][i % 2], transpose(columns[i])[i % 2][i % 3]);
}
