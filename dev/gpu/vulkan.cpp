// OpFmaKHR where a Vulkan driver offers VK_KHR_shader_fma: scalar and vector, every float-control mode that it reports.
//
//   vulkan OUT [RANDOM]          writes OUT/vulkan.jsonl and OUT/vulkan-vectors.jsonl; RANDOM components a shader
//   vulkan --glsl OUT [RANDOM]   GLSL.std.450's Fma instead, which any driver has: to try the program
//   vulkan --modules OUT         writes every module to OUT/*.spv and stops: for a validator
//
// Of each shader it counts, for the reference rounding to nearest and toward zero, keeping and flushing subnormals, how
// many components agree (any NaN agrees with any).
#include <vulkan/vulkan.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "aim.h"
#include "spirv.h"

#ifndef VK_KHR_SHADER_FMA_EXTENSION_NAME
#define VK_KHR_SHADER_FMA_EXTENSION_NAME "VK_KHR_shader_fma"
struct VkPhysicalDeviceShaderFmaFeaturesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderFmaFloat16, shaderFmaFloat32, shaderFmaFloat64;
};
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FMA_FEATURES_KHR VkStructureType(1000579000)
#endif

namespace {

[[noreturn]] void die(const std::string &what) {
    std::cerr << "vulkan: " << what << "\n";
    exit(2);
}
void check(VkResult result, const char *what) {
    if (result != VK_SUCCESS) die(std::string(what) + " gave " + std::to_string(result));
}
#define TRY(call) check(call, #call)

template <class T> T made(VkStructureType type) {
    T value;
    memset(&value, 0, sizeof value);
    value.sType = type;
    return value;
}

struct Gpu {
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    std::string name;
    bool fma[65] = {};  // by width
    VkPhysicalDeviceFloatControlsProperties controls;

    bool takes(const Shader &s) const {
        auto of = [&](VkBool32 f16, VkBool32 f32, VkBool32 f64) { return s.width == 16 ? f16 : s.width == 32 ? f32 : f64; };
        const auto &c = controls;
        if (!fma[s.width]) return false;
        if (s.rounding == RTE && !of(c.shaderRoundingModeRTEFloat16, c.shaderRoundingModeRTEFloat32, c.shaderRoundingModeRTEFloat64)) return false;
        if (s.rounding == RTZ && !of(c.shaderRoundingModeRTZFloat16, c.shaderRoundingModeRTZFloat32, c.shaderRoundingModeRTZFloat64)) return false;
        if (s.denorm == PRESERVE && !of(c.shaderDenormPreserveFloat16, c.shaderDenormPreserveFloat32, c.shaderDenormPreserveFloat64)) return false;
        if (s.denorm == FLUSH && !of(c.shaderDenormFlushToZeroFloat16, c.shaderDenormFlushToZeroFloat32, c.shaderDenormFlushToZeroFloat64)) return false;
        return !s.special || of(c.shaderSignedZeroInfNanPreserveFloat16, c.shaderSignedZeroInfNanPreserveFloat32, c.shaderSignedZeroInfNanPreserveFloat64);
    }
};

// The first device that offers it (with `glsl` any), made ready; nothing if there is none.
bool open(Gpu &gpu, bool glsl) {
    auto application = made<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto instance_info = made<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    instance_info.pApplicationInfo = &application;
    VkInstance instance;
    if (vkCreateInstance(&instance_info, nullptr, &instance) != VK_SUCCESS) return false;
    uint32_t count = 0;
    TRY(vkEnumeratePhysicalDevices(instance, &count, nullptr));
    std::vector<VkPhysicalDevice> devices(count);
    TRY(vkEnumeratePhysicalDevices(instance, &count, devices.data()));
    for (VkPhysicalDevice device : devices) {
        uint32_t extensions = 0;
        TRY(vkEnumerateDeviceExtensionProperties(device, nullptr, &extensions, nullptr));
        std::vector<VkExtensionProperties> offered(extensions);
        TRY(vkEnumerateDeviceExtensionProperties(device, nullptr, &extensions, offered.data()));
        bool offers = glsl;
        for (const auto &extension : offered) offers |= !strcmp(extension.extensionName, VK_KHR_SHADER_FMA_EXTENSION_NAME);
        if (!offers) continue;

        gpu.physical = device;
        gpu.controls = made<VkPhysicalDeviceFloatControlsProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES);
        auto driver = made<VkPhysicalDeviceDriverProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
        driver.pNext = &gpu.controls;
        auto properties = made<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
        properties.pNext = &driver;
        vkGetPhysicalDeviceProperties2(device, &properties);
        gpu.name = std::string(properties.properties.deviceName) + ", " + driver.driverName + " " + driver.driverInfo;

        auto fma = made<VkPhysicalDeviceShaderFmaFeaturesKHR>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FMA_FEATURES_KHR);
        auto features12 = made<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
        if (!glsl) features12.pNext = &fma;
        auto features = made<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
        features.pNext = &features12;
        vkGetPhysicalDeviceFeatures2(device, &features);
        gpu.fma[16] = features12.shaderFloat16 && (glsl || fma.shaderFmaFloat16);
        gpu.fma[32] = glsl || fma.shaderFmaFloat32;
        gpu.fma[64] = features.features.shaderFloat64 && (glsl || fma.shaderFmaFloat64);

        uint32_t families = 0;
        vkGetPhysicalDeviceQueueFamilyProperties(device, &families, nullptr);
        std::vector<VkQueueFamilyProperties> queues(families);
        vkGetPhysicalDeviceQueueFamilyProperties(device, &families, queues.data());
        while (gpu.family < families && !(queues[gpu.family].queueFlags & VK_QUEUE_COMPUTE_BIT)) gpu.family++;
        float priority = 1;
        auto queue = made<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        queue.queueFamilyIndex = gpu.family;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        auto info = made<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
        info.pNext = &features;
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queue;
        const char *extension = VK_KHR_SHADER_FMA_EXTENSION_NAME;
        info.enabledExtensionCount = glsl ? 0 : 1;
        info.ppEnabledExtensionNames = &extension;
        TRY(vkCreateDevice(device, &info, nullptr, &gpu.device));
        vkGetDeviceQueue(gpu.device, gpu.family, 0, &gpu.queue);
        return true;
    }
    return false;
}

struct Buffer {
    VkBuffer buffer;
    uint32_t *words;
};
Buffer buffer(const Gpu &gpu, VkDeviceSize size) {
    auto info = made<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    Buffer made_buffer;
    TRY(vkCreateBuffer(gpu.device, &info, nullptr, &made_buffer.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu.device, made_buffer.buffer, &needs);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu.physical, &memory);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    auto allocate = made<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.allocationSize = needs.size;
    for (uint32_t i = memory.memoryTypeCount; i-- > 0;)
        if (needs.memoryTypeBits >> i & 1 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) allocate.memoryTypeIndex = i;
    VkDeviceMemory at;
    TRY(vkAllocateMemory(gpu.device, &allocate, nullptr, &at));
    TRY(vkBindBufferMemory(gpu.device, made_buffer.buffer, at, 0));
    void *mapped;
    TRY(vkMapMemory(gpu.device, at, 0, size, 0, &mapped));
    made_buffer.words = static_cast<uint32_t *>(mapped);
    return made_buffer;
}

// One shader over what lies in the buffers.
void dispatch(const Gpu &gpu, const Shader &shader, const Buffer (&buffers)[4], uint32_t groups) {
    VkDescriptorSetLayoutBinding bindings[4] = {};
    for (uint32_t i = 0; i < 4; i++) bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    auto set_info = made<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set_info.bindingCount = 4;
    set_info.pBindings = bindings;
    VkDescriptorSetLayout set_layout;
    TRY(vkCreateDescriptorSetLayout(gpu.device, &set_info, nullptr, &set_layout));
    auto layout_info = made<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    VkPipelineLayout layout;
    TRY(vkCreatePipelineLayout(gpu.device, &layout_info, nullptr, &layout));

    std::vector<uint32_t> words = assemble(shader);
    auto module_info = made<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    module_info.codeSize = words.size() * 4;
    module_info.pCode = words.data();
    VkShaderModule module;
    TRY(vkCreateShaderModule(gpu.device, &module_info, nullptr, &module));
    auto pipeline_info = made<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    pipeline_info.stage = made<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    pipeline_info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline_info.stage.module = module;
    pipeline_info.stage.pName = "main";
    pipeline_info.layout = layout;
    VkPipeline pipeline;
    TRY(vkCreateComputePipelines(gpu.device, VK_NULL_HANDLE, 1, &pipeline_info, nullptr, &pipeline));

    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
    auto pool_info = made<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool_info.maxSets = 1;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    VkDescriptorPool pool;
    TRY(vkCreateDescriptorPool(gpu.device, &pool_info, nullptr, &pool));
    auto allocate = made<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &set_layout;
    VkDescriptorSet set;
    TRY(vkAllocateDescriptorSets(gpu.device, &allocate, &set));
    for (uint32_t i = 0; i < 4; i++) {
        VkDescriptorBufferInfo whole = {buffers[i].buffer, 0, VK_WHOLE_SIZE};
        auto write = made<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
        write.dstSet = set;
        write.dstBinding = i;
        write.descriptorCount = 1;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &whole;
        vkUpdateDescriptorSets(gpu.device, 1, &write, 0, nullptr);
    }

    auto commands_info = made<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    commands_info.queueFamilyIndex = gpu.family;
    VkCommandPool commands_pool;
    TRY(vkCreateCommandPool(gpu.device, &commands_info, nullptr, &commands_pool));
    auto buffer_info = made<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    buffer_info.commandPool = commands_pool;
    buffer_info.commandBufferCount = 1;
    VkCommandBuffer commands;
    TRY(vkAllocateCommandBuffers(gpu.device, &buffer_info, &commands));
    auto begin = made<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    TRY(vkBeginCommandBuffer(commands, &begin));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
    vkCmdDispatch(commands, groups, 1, 1);
    auto barrier = made<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    TRY(vkEndCommandBuffer(commands));
    auto submit = made<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    TRY(vkQueueSubmit(gpu.queue, 1, &submit, VK_NULL_HANDLE));
    TRY(vkQueueWaitIdle(gpu.queue));

    vkDestroyCommandPool(gpu.device, commands_pool, nullptr);
    vkDestroyDescriptorPool(gpu.device, pool, nullptr);
    vkDestroyPipeline(gpu.device, pipeline, nullptr);
    vkDestroyShaderModule(gpu.device, module, nullptr);
    vkDestroyPipelineLayout(gpu.device, layout, nullptr);
    vkDestroyDescriptorSetLayout(gpu.device, set_layout, nullptr);
}

std::string packed(const Shader &s, const uint64_t *lanes) {
    std::string text = "0x";
    for (int lane = s.lanes - 1; lane >= 0; lane--) {
        char digits[20];
        snprintf(digits, sizeof digits, "%0*" PRIx64, s.width / 4, lanes[lane]);
        text += digits;
    }
    return text;
}

const uint32_t CHUNK = 3 << 18;  // components: divisible by 1 to 4 lanes times the threads of a group

}  // namespace

int main(int argc, char **argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    std::string option;
    if (!arguments.empty() && arguments[0].rfind("--", 0) == 0) option = arguments[0], arguments.erase(arguments.begin());
    if (arguments.empty()) die("usage: vulkan [--glsl|--modules] OUT [RANDOM]");
    std::string out = arguments[0];
    if (option == "--modules") {
        for (bool glsl : {false, true})
            for (const Shader &shader : all_shaders(glsl)) {
                std::vector<uint32_t> words = assemble(shader);
                std::ofstream(out + "/" + (glsl ? "glsl-" : "") + shader.spelling() + ".spv", std::ios::binary)
                    .write(reinterpret_cast<char *>(words.data()), std::streamsize(words.size() * 4));
            }
        return 0;
    }
    uint64_t random = arguments.size() > 1 ? strtoull(arguments[1].c_str(), nullptr, 10) : 4 * CHUNK;
    bool glsl = option == "--glsl";
    Gpu gpu;
    if (!open(gpu, glsl)) {
        std::cout << "vulkan: no driver offers VK_KHR_shader_fma\n";
        return 0;
    }
    std::ofstream results(out + "/vulkan.jsonl"), vectors(out + "/vulkan-vectors.jsonl");
    Buffer buffers[4];
    for (Buffer &b : buffers) b = buffer(gpu, VkDeviceSize(CHUNK) * 8);
    for (const Shader &shader : all_shaders(glsl)) {
        if (!gpu.takes(shader)) continue;
        Format f = shader.width == 16 ? F16 : shader.width == 32 ? F32 : F64;
        Operation ops[4];
        for (int i = 0; i < 4; i++) ops[i] = Operation{MUL_ADD, f, f, i % 2 ? ZERO : NEAREST, false, i >= 2, false, false};
        uint64_t agree[4] = {}, compared = 0, words = uint64_t(shader.words());
        for (uint64_t first = 0; first < DIRECTED + random; first += CHUNK) {
            std::vector<Triple> operands;
            for (uint64_t i = first; i < first + CHUNK; i++) {
                Triple t = i < DIRECTED ? directed(ops[0], i) : aimed(ops[0], 3, i);
                memcpy(buffers[0].words + (i - first) * words, &t.a, words * 4);
                memcpy(buffers[1].words + (i - first) * words, &t.b, words * 4);
                memcpy(buffers[2].words + (i - first) * words, &t.c, words * 4);
                operands.push_back(t);
            }
            dispatch(gpu, shader, buffers, CHUNK / uint32_t(shader.lanes) / THREADS_OF_A_GROUP);
            std::vector<uint64_t> found(CHUNK);
            for (uint64_t i = 0; i < CHUNK; i++) {
                memcpy(&found[i], buffers[3].words + i * words, words * 4);
                const Triple &t = operands[i];
                compared++;
                for (int rule = 0; rule < 4; rule++) {
                    uint64_t expected = reference(ops[rule], default_policy(f), t.a, t.b, t.c);
                    agree[rule] += found[i] == expected || (f.is_nan(found[i]) && f.is_nan(expected));
                }
            }
            uint64_t stride = uint64_t(shader.lanes) * 257;
            for (uint64_t i = 0; i + uint64_t(shader.lanes) <= CHUNK && first < 2 * CHUNK; i += stride) {
                uint64_t values[3][4];
                for (int lane = 0; lane < shader.lanes; lane++) {
                    const Triple &t = operands[i + uint64_t(lane)];
                    values[0][lane] = t.a, values[1][lane] = t.b, values[2][lane] = t.c;
                }
                vectors << "{\"instruction\":\"" << shader.spelling() << "\",\"a\":\"" << packed(shader, values[0])
                        << "\",\"b\":\"" << packed(shader, values[1]) << "\",\"c\":\"" << packed(shader, values[2])
                        << "\",\"d\":\"" << packed(shader, &found[i]) << "\"}\n";
            }
        }
        results << "{\"form\":\"" << shader.spelling() << "\",\"machine\":\"" << gpu.name << "\",\"cases\":" << compared
                << ",\"rn\":" << agree[0] << ",\"rz\":" << agree[1] << ",\"rn_ftz\":" << agree[2] << ",\"rz_ftz\":" << agree[3]
                << (glsl ? ",\"glsl\":true" : "") << "}" << std::endl;
    }
    return 0;
}
