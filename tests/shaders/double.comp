// f64: vectors of three in structs, conversions, quotients and roots.
#version 450
layout(local_size_x = 8) in;
struct Item { dvec3 at; double weight; dvec2 pair; };
layout(std430, binding = 0) readonly buffer In { Item items[]; };
layout(std430, binding = 1) buffer Out { dvec3 results[]; };
layout(std430, binding = 2) writeonly buffer Narrow { float narrow[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    Item item = items[i];
    precise dvec3 scaled = item.at * item.weight;
    results[2 * i] = fma(item.at, dvec3(item.weight), item.at.zxy);
    results[2 * i + 1] = dvec3(scaled.x - item.pair.y, item.pair.x / item.pair.y, sqrt(abs(item.weight)));
    narrow[i] = float(item.pair.x);
}
