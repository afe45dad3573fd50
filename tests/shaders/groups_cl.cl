// OpenCL C: what a workgroup's and a subgroup's work-items compute together.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void groups(global const int *x, global const float *y, global int *r, global float *s) {
    size_t i = get_global_id(0), here = get_local_id(0);
    int a = x[i];
    float b = y[i];
    global int *at = r + 12 * i;
    at[0] = work_group_reduce_add(a);
    at[1] = work_group_scan_inclusive_max(a);
    at[2] = work_group_scan_exclusive_min((uint)a);
    at[3] = work_group_all(a > -900) | work_group_any(a > 900) << 1;
    at[4] = work_group_broadcast(a, 5);
    at[5] = sub_group_reduce_max(a);
    at[6] = sub_group_scan_inclusive_add(a);
    at[7] = sub_group_any(a > 900);
    at[8] = sub_group_broadcast(a, 3);
    at[9] = sub_group_all(a > -990);
    at[10] = get_sub_group_local_id();
    at[11] = (int)(work_group_reduce_add((long)a << 20) >> 20);
    s[3 * i] = work_group_reduce_add(b);
    s[3 * i + 1] = work_group_scan_inclusive_min(b);
    s[3 * i + 2] = work_group_scan_exclusive_add(b);
}
