// A compute shader that computes one fused multiply-add over arrays, as SPIR-V words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What a module declares of its one float width; SILENT leaves it open.
enum Rounding { ROUNDING_SILENT, RTE, RTZ };
enum Denorm { DENORM_SILENT, PRESERVE, FLUSH };

struct Shader {
    int width, lanes;
    Rounding rounding;
    Denorm denorm;
    bool special;
    // GLSL.std.450's Fma, NoContraction, in OpFmaKHR's place: for drivers without the extension.
    bool glsl;

    // As roundonce spells it.
    std::string spelling() const {
        std::string text = "OpFmaKHR.";
        if (lanes > 1) text += "v" + std::to_string(lanes);
        text += "f" + std::to_string(width);
        if (rounding != ROUNDING_SILENT) text += rounding == RTE ? "+rte" : "+rtz";
        if (denorm != DENORM_SILENT) text += denorm == PRESERVE ? "+preserve" : "+ftz";
        if (special) text += "+special";
        return text;
    }
    // 32-bit words that one component takes in the buffers: f16 sits in the low half of one.
    int words() const { return width == 64 ? 2 : 1; }
};

const uint32_t THREADS_OF_A_GROUP = 64;

inline std::vector<uint32_t> assemble(const Shader &shader) {
    std::vector<uint32_t> module = {0x07230203, 0x00010300, 0, 0, 0};
    uint32_t next = 1;
    auto id = [&] { return next++; };
    auto put = [&](uint32_t opcode, std::vector<uint32_t> operands) {
        module.push_back(uint32_t(operands.size() + 1) << 16 | opcode);
        module.insert(module.end(), operands.begin(), operands.end());
    };
    auto text = [](std::vector<uint32_t> before, const char *string) {
        std::string bytes = string;
        bytes.resize(bytes.size() / 4 * 4 + 4, '\0');
        for (size_t i = 0; i < bytes.size(); i += 4)
            before.push_back(uint32_t(bytes[i]) | uint32_t(bytes[i + 1]) << 8 | uint32_t(bytes[i + 2]) << 16 |
                             uint32_t(bytes[i + 3]) << 24);
        return before;
    };
    uint32_t width = uint32_t(shader.width), lanes = uint32_t(shader.lanes), words = uint32_t(shader.words());
    bool controls = shader.rounding != ROUNDING_SILENT || shader.denorm != DENORM_SILENT || shader.special;

    // Capabilities and extensions.
    put(17, {1});                                             // Shader
    if (width == 16) put(17, {9});                            // Float16
    if (width == 64) put(17, {10});                           // Float64
    if (!shader.glsl) put(17, {6030});                        // FMAKHR
    if (shader.denorm == PRESERVE) put(17, {4464});
    if (shader.denorm == FLUSH) put(17, {4465});
    if (shader.special) put(17, {4466});
    if (shader.rounding == RTE) put(17, {4467});
    if (shader.rounding == RTZ) put(17, {4468});
    if (!shader.glsl) put(10, text({}, "SPV_KHR_fma"));
    if (controls) put(10, text({}, "SPV_KHR_float_controls"));
    uint32_t glsl = id();
    if (shader.glsl) put(11, text({glsl}, "GLSL.std.450"));
    put(14, {0, 1});                                          // Logical, GLSL450
    uint32_t entry = id(), invocation = id(), result = id();
    std::vector<uint32_t> entry_point = text({5, entry}, "main");
    entry_point.push_back(invocation);
    put(15, entry_point);
    put(16, {entry, 17, THREADS_OF_A_GROUP, 1, 1});           // LocalSize
    if (shader.denorm == PRESERVE) put(16, {entry, 4459, width});
    if (shader.denorm == FLUSH) put(16, {entry, 4460, width});
    if (shader.special) put(16, {entry, 4461, width});
    if (shader.rounding == RTE) put(16, {entry, 4462, width});
    if (shader.rounding == RTZ) put(16, {entry, 4463, width});

    uint32_t array = id(), block = id(), buffers[4];
    put(71, {invocation, 11, 28});                            // BuiltIn GlobalInvocationId
    put(71, {array, 6, 4});                                   // ArrayStride
    put(71, {block, 2});                                      // Block
    put(72, {block, 0, 35, 0});                               // Offset
    for (uint32_t i = 0; i < 4; i++) {
        buffers[i] = id();
        put(71, {buffers[i], 34, 0});                         // DescriptorSet
        put(71, {buffers[i], 33, i});                         // Binding
    }
    if (shader.glsl) put(71, {result, 42});                   // NoContraction

    uint32_t none = id(), function = id(), u32 = id(), v3u32 = id(), scalar = id(), pair = id();
    uint32_t input = id(), storage = id(), element = id();
    put(19, {none});
    put(33, {function, none});
    put(21, {u32, 32, 0});
    put(23, {v3u32, u32, 3});
    put(22, {scalar, width});
    // What a component's words are read as: two halves, or two words.
    if (width == 16) put(23, {pair, scalar, 2});
    if (width == 64) put(23, {pair, u32, 2});
    uint32_t type = scalar;
    if (lanes > 1) {
        type = width == 16 && lanes == 2 ? pair : id();
        if (type != pair) put(23, {type, scalar, lanes});
    }
    put(29, {array, u32});                                    // TypeRuntimeArray
    put(30, {block, array});
    put(32, {input, 1, v3u32});
    put(32, {storage, 12, block});
    put(32, {element, 12, u32});
    put(59, {input, invocation, 1});
    for (uint32_t buffer : buffers) put(59, {storage, buffer, 12});
    std::vector<uint32_t> constants(lanes * words + 1);
    for (uint32_t i = 0; i < constants.size(); i++) {
        constants[i] = id();
        put(43, {u32, constants[i], i});
    }
    uint32_t zero_half = id();
    if (width == 16) put(43, {scalar, zero_half, 0});

    put(54, {none, entry, 0, function});
    put(248, {id()});
    uint32_t all = id(), thread = id(), base = id();
    put(61, {v3u32, all, invocation});
    put(81, {u32, thread, all, 0});
    put(132, {u32, base, thread, constants[lanes * words]});  // IMul
    auto address = [&](uint32_t buffer, uint32_t word) {
        uint32_t at = id(), pointer = id();
        put(128, {u32, at, base, constants[word]});           // IAdd
        put(65, {element, pointer, buffer, constants[0], at});
        return pointer;
    };
    uint32_t values[3];
    for (int operand = 0; operand < 3; operand++) {
        std::vector<uint32_t> components;
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint32_t loaded[2] = {0, 0}, value = id();
            for (uint32_t word = 0; word < words; word++) {
                uint32_t pointer = address(buffers[operand], lane * words + word);
                loaded[word] = id();
                put(61, {u32, loaded[word], pointer});
            }
            if (width == 32) {
                put(124, {scalar, value, loaded[0]});         // Bitcast
            } else if (width == 16) {
                uint32_t halves = id();
                put(124, {pair, halves, loaded[0]});
                put(81, {scalar, value, halves, 0});
            } else {
                uint32_t both = id();
                put(80, {pair, both, loaded[0], loaded[1]});
                put(124, {scalar, value, both});
            }
            components.push_back(value);
        }
        values[operand] = components[0];
        if (lanes > 1) {
            values[operand] = id();
            std::vector<uint32_t> construct = {type, values[operand]};
            construct.insert(construct.end(), components.begin(), components.end());
            put(80, construct);
        }
    }
    if (shader.glsl) put(12, {type, result, glsl, 50, values[0], values[1], values[2]});
    else put(4427, {type, result, values[0], values[1], values[2]});
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t value = result, stored[2] = {0, 0};
        if (lanes > 1) {
            value = id();
            put(81, {scalar, value, result, lane});
        }
        if (width == 32) {
            stored[0] = id();
            put(124, {u32, stored[0], value});
        } else if (width == 16) {
            uint32_t halves = id();
            stored[0] = id();
            put(80, {pair, halves, value, zero_half});
            put(124, {u32, stored[0], halves});
        } else {
            uint32_t both = id();
            put(124, {pair, both, value});
            for (uint32_t word = 0; word < 2; word++) {
                stored[word] = id();
                put(81, {u32, stored[word], both, word});
            }
        }
        for (uint32_t word = 0; word < words; word++) {
            uint32_t pointer = address(buffers[3], lane * words + word);
            put(62, {pointer, stored[word]});
        }
    }
    put(253, {});
    put(56, {});
    module[3] = next;
    return module;
}

// Every shader of the widths; which of them a driver takes is asked of it.
inline std::vector<Shader> all_shaders(bool glsl) {
    std::vector<Shader> shaders;
    for (int width : {16, 32, 64})
        for (int lanes = 1; lanes <= 4; lanes++)
            for (Rounding rounding : {ROUNDING_SILENT, RTE, RTZ})
                for (Denorm denorm : {DENORM_SILENT, PRESERVE, FLUSH})
                    for (bool special : {false, true})
                        shaders.push_back(Shader{width, lanes, rounding, denorm, special, glsl});
    return shaders;
}
