"""Numbers as arguments and as specialisation constants of a kernel: one rule for both."""

import pathlib
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import roundonce

RUN = pathlib.Path(__file__).resolve().parents[3] / "tests/cli/run.in"
CONSTANTS = """
               OpCapability Shader
               OpCapability Float64
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 1 1 1
               OpDecorate %single SpecId 1
               OpDecorate %double SpecId 2
               OpDecorate %integer SpecId 3
               OpDecorate %choice SpecId 4
               OpDecorate %array ArrayStride 8
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %block BufferBlock
               OpDecorate %out DescriptorSet 0
               OpDecorate %out Binding 0
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %bool = OpTypeBool
        %f32 = OpTypeFloat 32
        %f64 = OpTypeFloat 64
        %u32 = OpTypeInt 32 0
        %i32 = OpTypeInt 32 1
     %single = OpSpecConstant %f32 1
     %double = OpSpecConstant %f64 1
    %integer = OpSpecConstant %i32 1
     %choice = OpSpecConstantFalse %bool
       %zero = OpConstant %f64 0
        %one = OpConstant %f64 1
         %u0 = OpConstant %u32 0
         %u1 = OpConstant %u32 1
         %u2 = OpConstant %u32 2
         %u3 = OpConstant %u32 3
      %array = OpTypeRuntimeArray %f64
      %block = OpTypeStruct %array
    %buffers = OpTypePointer Uniform %block
   %elements = OpTypePointer Uniform %f64
        %out = OpVariable %buffers Uniform
       %main = OpFunction %void None %fn
      %label = OpLabel
         %v0 = OpFConvert %f64 %single
         %v2 = OpConvertSToF %f64 %integer
         %v3 = OpSelect %f64 %choice %one %zero
         %p0 = OpAccessChain %elements %out %u0 %u0
         %p1 = OpAccessChain %elements %out %u0 %u1
         %p2 = OpAccessChain %elements %out %u0 %u2
         %p3 = OpAccessChain %elements %out %u0 %u3
               OpStore %p0 %v0
               OpStore %p1 %double
               OpStore %p2 %v2
               OpStore %p3 %v3
               OpReturn
               OpFunctionEnd
"""
HALVES = 1 + 2**-24
"""In the middle of two f32, which its decimal digits are not."""


def constant(id, value):
    return float(roundonce.run(CONSTANTS, args={"0.0": np.zeros(4)}, spec={id: value})["0.0"][id - 1])


def parameter(value):
    args = {"out": np.zeros(1, np.float32), "a": value, "b": 1, "c": "-0"}
    return float(roundonce.run(RUN / "two.ptx", entry="first", args=args)["out"][0])


@pytest.mark.parametrize("taken", [parameter, lambda value: constant(1, value)])
def test_a_number_of_f32(taken):
    tenth = np.float32(0.1)
    for given in (0.1, tenth, "0.1", tenth.view(np.uint32), "0x3dcccccd"):
        assert Fraction(taken(given)) == Fraction(float(tenth)), given
    assert taken(HALVES) == 1
    for given, value in [(2, 2.0), (True, 1.0), (np.True_, 1.0), (10**5000, np.inf), (-np.inf, -np.inf)]:
        assert taken(given) == value
    for wrong, found in [
        (np.float16(0.1), "f16"),
        (ml_dtypes.bfloat16(3.14), "bf16"),
        (np.float64(0.1), "f64"),
        (np.int32(1), "i32"),
        (np.uint16(0x3C00), "u16"),
        (np.uint64(1), "u64"),
    ]:
        with pytest.raises(TypeError, match=f"is f32: found {found}"):
            taken(wrong)


def test_a_constant_of_another_type():
    assert constant(2, np.float64(0.1)) == constant(2, 0.1) == constant(2, np.float64(0.1).view(np.uint64)) == 0.1
    with pytest.raises(TypeError, match="constant 2 is f64: found f32"):
        constant(2, np.float32(0.1))
    for given in (-5, np.int64(-5), np.int8(-5), "-5", "0xfffffffb"):
        assert constant(3, given) == -5
    assert constant(3, np.True_) == 1
    for wrong, found in [(5.0, "is no float: expected an integer or bits, found 5"), (np.float32(5), "is i32: found f32")]:
        with pytest.raises(TypeError, match=f"constant 3 {found}"):
            constant(3, wrong)
    with pytest.raises(roundonce.Error, match="constant 3=1e400: `1e400` is neither an integer"):
        constant(3, 10**5000)
    for given, value in [(True, 1), (np.False_, 0), (1, 1), ("true", 1), (np.uint8(0), 0)]:
        assert constant(4, given) == value
    with pytest.raises(TypeError, match="constant 4 is true or false: found a float"):
        constant(4, 1.0)
    with pytest.raises(roundonce.Error, match="no specialisation constant 9: it has 1, 2, 3, 4"):
        roundonce.run(CONSTANTS, args={"0.0": np.zeros(4)}, spec={9: 1.0})
    for wrong, found in [(None, "NoneType"), (1j, "complex"), (np.float32([1]), "ndarray"), (Fraction(1, 2), "Fraction")]:
        with pytest.raises(TypeError, match=f"spec: the constant 1 is {found}: expected a number or text"):
            constant(1, wrong)


def test_what_push_constants_are_not():
    for wrong, error, expected in [
        ("0", ValueError, "`push` is '0': expected two hexadecimal digits a byte"),
        ("zz", ValueError, "`push` is 'zz'"),
        (5, TypeError, "`push` is int: expected bytes, hexadecimal digits or an array"),
    ]:
        with pytest.raises(error, match=expected):
            roundonce.run(CONSTANTS, args={"0.0": np.zeros(4)}, push=wrong)
