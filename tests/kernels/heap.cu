// A list whose elements are allocated on the device.
struct Node {
    float value;
    Node *next;
};
extern "C" __global__ void heap(int n, const float *x, float *y, int *null) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Node *list = nullptr;
    for (int k = 0; k <= i % 7; k++) {
        Node *node = static_cast<Node *>(malloc(sizeof(Node)));
        node->value = x[(i + 11 * k) % n];
        node->next = list;
        list = node;
    }
    float sum = 0.0f;
    while (list) {
        Node *next = list->next;
        sum = __fmaf_rn(sum, 0.9f, list->value);
        free(list);
        list = next;
    }
    y[i] = sum;
    // More than there is.
    void *large = malloc(size_t(1) << 40);
    null[i] = large == nullptr;
    free(large);
}
