// Addresses in push constants and in buffers, arrays of arrays indexed at run time, structs copied whole.
#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
struct Cell { vec2 at; float grid[2][3]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Cells { Cell cell[]; };
layout(push_constant) uniform Push { Cells source; Cells target; vec2 shift; uint rows[2]; };
shared Cell kept[32];
const float weights[3] = float[](0.25, 0.5, 2.0);
float heaviest(Cell cell, uint row) {
    float best = cell.grid[row][0];
    for (int k = 1; k < 3; ++k) best = max(best, cell.grid[row][k] * weights[k]);
    return best;
}
void main() {
    uint i = gl_GlobalInvocationID.x, here = gl_LocalInvocationIndex;
    kept[here] = source.cell[i];
    barrier();
    Cell mine = kept[31u - here];
    float own[2][3] = kept[here].grid;
    mine.at += shift;
    own[i & 1u][i % 3u] = heaviest(mine, rows[i & 1u]);
    mine.grid = own;
    target.cell[i] = mine;
}
