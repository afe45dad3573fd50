// Images as arguments, samplers of the program and of the launch.
__constant sampler_t fixed_sampler = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

kernel void images(read_only image2d_t picture, write_only image2d_t result, sampler_t given,
                   read_only image2d_array_t layers, read_write image3d_t solid, write_only image1d_t line,
                   global const float *x, global float4 *out, global int *sizes) {
    const sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int i = get_global_id(0);
    float2 at = (float2)(x[2 * i], x[2 * i + 1]);
    int2 whole = convert_int2_rtz(at * 8.0f);
    out[6 * i] = read_imagef(picture, fixed_sampler, at);
    out[6 * i + 1] = read_imagef(picture, edge, whole);
    out[6 * i + 2] = read_imagef(picture, given, at * 8.0f);
    out[6 * i + 3] = read_imagef(layers, given, (float4)(at * 8.0f, at.x * 2.0f, 0.0f));
    out[6 * i + 4] = read_imagef(picture, (int2)(i & 7, i >> 3));
    out[6 * i + 5] = convert_float4(read_imagei(solid, (int4)(i & 3, i >> 2 & 3, i >> 4, 0)));
    write_imagef(result, (int2)(i & 7, i >> 3), (float4)(at, at * -2.0f));
    write_imagei(solid, (int4)(i & 3, i >> 2 & 3, i >> 4, 0), (int4)(whole * 40, -whole));
    write_imageui(line, i, (uint4)(i, i * 3, 7, 1));
    if (i == 0) {
        sizes[0] = get_image_width(picture);
        sizes[1] = get_image_height(picture);
        sizes[2] = get_image_depth(solid);
        sizes[3] = (int)get_image_array_size(layers);
    }
}
