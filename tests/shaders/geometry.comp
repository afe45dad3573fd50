// Determinants and inverses of matrices, and a vector behind a surface.
#version 450
layout(local_size_x = 8) in;
struct Item { mat4 m; vec4 i; vec4 n; };
layout(std430, binding = 0) readonly buffer A { Item a[]; };
layout(std430, binding = 1) buffer R { float r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x, o = i * 36;
    mat4 m = a[i].m;
    mat3 m3 = mat3(m);
    mat2 m2 = mat2(m);
    mat2 inverse2 = inverse(m2);
    mat3 inverse3 = inverse(m3);
    mat4 inverse4 = inverse(m);
    for (int k = 0; k < 4; k++) r[o + k] = inverse2[k / 2][k % 2];
    for (int k = 0; k < 9; k++) r[o + 4 + k] = inverse3[k / 3][k % 3];
    for (int k = 0; k < 16; k++) r[o + 13 + k] = inverse4[k / 4][k % 4];
    r[o + 29] = determinant(m2);
    r[o + 30] = determinant(m3);
    r[o + 31] = determinant(m);
    vec4 bent = refract(a[i].i, a[i].n, a[i].m[0].x);
    for (int k = 0; k < 4; k++) r[o + 32 + k] = bent[k];
}
