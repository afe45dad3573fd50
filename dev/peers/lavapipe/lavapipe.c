/* Runs the kernels of kernels.comp on request, so that crates/exec/benches/kernels.rs can take turns with them.
 *
 * A request is a line `KERNEL GROUP_X GROUP_Y` (`k3 16 16`); the answer is a line with the seconds of processor time
 * that one run took, buffers and compilation left aside. Sizes and data are those of the benchmark. The argument is the
 * folder of k1.spv to k5.spv; the device is the first that says it is a CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "../peer.h"

static VkPhysicalDevice physical;
static VkDevice device;

static void check(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "lavapipe: %s: Vulkan error %d\n", what, result);
        exit(1);
    }
}
#define TRY(call) check(call, #call)

static void open_device(void)
{
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo instance_info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    TRY(vkCreateInstance(&instance_info, NULL, &instance));
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    TRY(vkEnumeratePhysicalDevices(instance, &count, all));
    for (uint32_t i = 0; i < count && !physical; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(all[i], &properties);
        if (properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) physical = all[i];
    }
    if (!physical) {
        fprintf(stderr, "lavapipe: no Vulkan device is a CPU\n");
        exit(2);
    }
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    TRY(vkCreateDevice(physical, &info, NULL, &device));
}

static float *memory(VkBuffer *buffer, size_t count)
{
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = count * sizeof(float),
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    TRY(vkCreateBuffer(device, &info, NULL, buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, *buffer, &needs);
    VkPhysicalDeviceMemoryProperties kinds;
    vkGetPhysicalDeviceMemoryProperties(physical, &kinds);
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size};
    for (uint32_t i = kinds.memoryTypeCount; i-- > 0;)
        if (needs.memoryTypeBits >> i & 1 && kinds.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
            allocate.memoryTypeIndex = i;
    VkDeviceMemory at;
    void *mapped;
    TRY(vkAllocateMemory(device, &allocate, NULL, &at));
    TRY(vkBindBufferMemory(device, *buffer, at, 0));
    TRY(vkMapMemory(device, at, 0, VK_WHOLE_SIZE, 0, &mapped));
    return mapped;
}

static VkBuffer numbers(size_t count, uint64_t seed, float below)
{
    VkBuffer buffer;
    float *values = memory(&buffer, count);
    fill(values, count, seed, below);
    return buffer;
}

struct work {
    uint32_t global[2];
    uint32_t scalars[2];
    VkBuffer buffers[3];
    VkDescriptorSet set;
    VkShaderModule module;
    /* Made for the group of the last request. */
    uint32_t group[2];
    VkPipeline pipeline;
};

static VkShaderModule module(const char *folder, int number)
{
    char path[4096];
    static uint32_t words[1 << 14];
    snprintf(path, sizeof path, "%s/k%d.spv", folder, number);
    FILE *file = fopen(path, "rb");
    size_t bytes = file ? fread(words, 1, sizeof words, file) : 0;
    if (bytes == 0 || bytes == sizeof words) {
        fprintf(stderr, "lavapipe: cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    VkShaderModule made;
    TRY(vkCreateShaderModule(device, &info, NULL, &made));
    return made;
}

int main(int count, char **arguments)
{
    enum { N1 = 1 << 24, N2 = 1 << 22, N3 = 512, N4 = 1 << 20, N5 = 1 << 18 };
    open_device();
    struct work works[5] = {
        {{N1, 1}, {N1, 0x3f000001}, {numbers(N1, 1, 1), numbers(1, 1, 1), numbers(N1, 2, 1)}, 0, 0, {0, 0}, 0},
        {{N2, 1}, {N2, 0}, {numbers(17, 3, 1), numbers(N2, 4, 1), numbers(N2, 1, 1)}, 0, 0, {0, 0}, 0},
        {{N3, N3}, {N3, 0}, {numbers(N3 * N3, 8, 1), numbers(N3 * N3, 9, 1), numbers(N3 * N3, 1, 1)}, 0, 0, {0, 0}, 0},
        {{N4, 1}, {N4, 0}, {numbers(64, 5, 1), numbers(N4 + 64, 6, 1), numbers(N4, 1, 1)}, 0, 0, {0, 0}, 0},
        {{N5, 1}, {N5, 100}, {numbers(N5, 7, 2), numbers(1, 1, 1), numbers(N5, 1, 1)}, 0, 0, {0, 0}, 0},
    };
    VkDescriptorSetLayoutBinding bindings[3];
    for (uint32_t i = 0; i < 3; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                     VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 3,
                                                .pBindings = bindings};
    VkDescriptorSetLayout set_layout;
    TRY(vkCreateDescriptorSetLayout(device, &set_info, NULL, &set_layout));
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
                                              .pSetLayouts = &set_layout, .pushConstantRangeCount = 1,
                                              .pPushConstantRanges = &push};
    VkPipelineLayout layout;
    TRY(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 15};
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 5,
                                            .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool pool;
    TRY(vkCreateDescriptorPool(device, &pool_info, NULL, &pool));
    for (int i = 0; i < 5; i++) {
        VkDescriptorSetAllocateInfo allocate = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = pool,
                                                .descriptorSetCount = 1, .pSetLayouts = &set_layout};
        TRY(vkAllocateDescriptorSets(device, &allocate, &works[i].set));
        for (uint32_t place = 0; place < 3; place++) {
            VkDescriptorBufferInfo whole = {works[i].buffers[place], 0, VK_WHOLE_SIZE};
            VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = works[i].set,
                                          .dstBinding = place, .descriptorCount = 1,
                                          .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &whole};
            vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
        }
        works[i].module = module(count > 1 ? arguments[1] : ".", i + 1);
    }
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);
    VkCommandPoolCreateInfo commands_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                             .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandPool command_pool;
    TRY(vkCreateCommandPool(device, &commands_info, NULL, &command_pool));
    VkCommandBufferAllocateInfo command_info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = command_pool, .commandBufferCount = 1};
    VkCommandBuffer commands;
    TRY(vkAllocateCommandBuffers(device, &command_info, &commands));

    int number;
    uint32_t group[2];
    while (scanf(" k%d %u %u", &number, &group[0], &group[1]) == 3) {
        if (number < 1 || number > 5) {
            fprintf(stderr, "lavapipe: no kernel k%d\n", number);
            return 2;
        }
        struct work *work = &works[number - 1];
        if (memcmp(work->group, group, sizeof group) != 0) {
            VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}};
            VkSpecializationInfo special = {2, entries, sizeof group, group};
            VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout};
            info.stage = (VkPipelineShaderStageCreateInfo){VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                           .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                           .module = work->module, .pName = "main",
                                                           .pSpecializationInfo = &special};
            TRY(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &work->pipeline));
            memcpy(work->group, group, sizeof group);
        }
        VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        TRY(vkBeginCommandBuffer(commands, &begin));
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, work->pipeline);
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &work->set, 0, NULL);
        vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof work->scalars, work->scalars);
        vkCmdDispatch(commands, work->global[0] / group[0], work->global[1] / group[1], 1);
        TRY(vkEndCommandBuffer(commands));
        VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
        double start = seconds();
        TRY(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
        TRY(vkQueueWaitIdle(queue));
        printf("%.9f\n", seconds() - start);
        fflush(stdout);
    }
    return 0;
}
