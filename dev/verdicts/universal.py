#!/usr/bin/env python3
"""Asks spirv-val about modules that break one universal rule each, and about their valid neighbours.

    dev/verdicts/universal.py [FOLDER]      # writes vectors/edge/spirv/universal.jsonl

FOLDER has spirv-as and spirv-val; without it they are looked for in PATH. crates/spirv/tests/verdicts.rs holds `check`
against the record.
"""

import sys

from spirv_val import Judge

BASE = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
;decorations
%void = OpTypeVoid
%bool = OpTypeBool
%f = OpTypeFloat 32
%u = OpTypeInt 32 0
%i = OpTypeInt 32 1
%v2 = OpTypeVector %f 2
%s = OpTypeStruct %f %u
%c = OpConstant %f 1
%n = OpConstant %u 7
%true = OpConstantTrue %bool
%pf = OpTypePointer Function %f
%ps = OpTypePointer Function %s
%pp = OpTypePointer Private %f
%procedure = OpTypeFunction %void
%ff = OpTypeFunction %f %f
;globals
%g = OpVariable %pp Private
%add = OpFunction %f None %ff
%p = OpFunctionParameter %f
%first = OpLabel
%sum = OpFAdd %f %p %c
OpReturnValue %sum
OpFunctionEnd
%empty = OpFunction %void None %procedure
%only = OpLabel
OpReturn
OpFunctionEnd
;functions
%main = OpFunction %void None %procedure
%entry = OpLabel
%x = OpVariable %pf Function
%a = OpFunctionCall %f %add %c
;body
OpReturn
OpFunctionEnd
"""
ENTRY = 'OpEntryPoint GLCompute %main "main"'
FRAGMENT = (ENTRY, 'OpEntryPoint Fragment %main "main"')
ORIGIN = ("OpExecutionMode %main LocalSize 1 1 1", "OpExecutionMode %main OriginUpperLeft")
SECOND = """%second = OpFunction %void None %procedure
%entry2 = OpLabel
OpReturn
OpFunctionEnd"""


def body(text):
    return (";body", text)


def globals_(text):
    return (";globals", text)


def decorated(text):
    return (";decorations", text)


KERNEL = [
    ("OpCapability Shader\nOpMemoryModel Logical GLSL450", "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpMemoryModel Physical64 OpenCL"),
    ('OpEntryPoint GLCompute %main "main"', 'OpEntryPoint Kernel %main "main"'),
    (" 32 1\n", " 64 0\n"),
    ("Private", "CrossWorkgroup"),
]
CASES = {
    "as it is": [],
    # Functions.
    "OpReturn in a function with a value": [("OpReturnValue %sum", "OpReturn")],
    "OpReturnValue in a function of void": [("%only = OpLabel\nOpReturn", "%only = OpLabel\nOpReturnValue %c")],
    "OpReturnValue of another type": [("OpReturnValue %sum", "OpReturnValue %n")],
    "OpUnreachable in a function with a value": [("OpReturnValue %sum", "OpUnreachable")],
    "OpReturnValue of a type": [("OpReturnValue %sum", "OpReturnValue %f")],
    "a variable after a call": [body("%y = OpVariable %pf Function")],
    "a variable after a store": [("%a = OpFunctionCall %f %add %c", "OpStore %x %c\n%y = OpVariable %pf Function")],
    "two variables": [("%x = OpVariable %pf Function", "%x = OpVariable %pf Function\n%y = OpVariable %pf Function")],
    "a variable after OpNoLine": [("%x = OpVariable %pf Function", "OpNoLine\n%x = OpVariable %pf Function")],
    "a variable after OpUndef": [("%x = OpVariable", "%un = OpUndef %f\n%x = OpVariable")],
    "a variable in a second block": [body("OpBranch %more\n%more = OpLabel\n%y = OpVariable %pf Function")],
    "a parameter too many": [("%p = OpFunctionParameter %f", "%p = OpFunctionParameter %f\n%q = OpFunctionParameter %f")],
    "a parameter too few": [("%p = OpFunctionParameter %f\n", ""), ("%sum = OpFAdd %f %p %c", "%sum = OpFAdd %f %c %c")],
    "a parameter of another type": [("%p = OpFunctionParameter %f", "%p = OpFunctionParameter %u"), ("%sum = OpFAdd %f %p %c", "%sum = OpFAdd %f %c %c")],
    "a parameter of void's function": [("%only = OpLabel", "%q = OpFunctionParameter %f\n%only = OpLabel")],
    "a function of another type": [("%empty = OpFunction %void", "%empty = OpFunction %f")],
    "an entry point is called": [("%only = OpLabel", "%only = OpLabel\n%z = OpFunctionCall %void %main")],
    "a call with too many": [("%add %c", "%add %c %c")],
    "a call with another type": [("%add %c", "%add %n")],
    "a procedure is called": [body("%z = OpFunctionCall %void %empty")],
    # Entry points.
    "two entry points of one name": [(ENTRY, f"{ENTRY}\n{ENTRY}")],
    "two functions of one entry point's name": [
        (ENTRY, f'{ENTRY}\nOpEntryPoint GLCompute %second "main"'),
        ("OpExecutionMode", "OpExecutionMode %second LocalSize 1 1 1\nOpExecutionMode"),
        (";functions", SECOND),
    ],
    "two names of one function": [(ENTRY, f'{ENTRY}\nOpEntryPoint GLCompute %main "other"')],
    "one name of two models": [
        (ENTRY, f'{ENTRY}\nOpEntryPoint Vertex %second "main"'),
        (";functions", SECOND),
    ],
    "LocalSize with a zero": [("LocalSize 1 1 1", "LocalSize 0 1 1")],
    "LocalSize with a zero at the end": [("LocalSize 1 1 1", "LocalSize 1 1 0")],
    "OpKill in compute": [body("OpKill\n%rest = OpLabel")],
    "OpKill in what compute calls": [("%only = OpLabel\nOpReturn", "%only = OpLabel\nOpKill"), body("%z = OpFunctionCall %void %empty")],
    "OpKill that no entry point reaches": [("%only = OpLabel\nOpReturn", "%only = OpLabel\nOpKill")],
    "OpKill in a fragment shader": [FRAGMENT, ORIGIN, body("OpKill\n%rest = OpLabel")],
    "recursion": [("%sum = OpFAdd %f %p %c", "%sum = OpFunctionCall %f %add %p")],
    "recursion that no entry point reaches": [("%only = OpLabel", "%only = OpLabel\n%z = OpFunctionCall %void %empty")],
    "recursion of two": [
        ("%only = OpLabel", "%only = OpLabel\n%z = OpFunctionCall %void %second"),
        (";functions", SECOND.replace("OpReturn", "%z2 = OpFunctionCall %void %empty\nOpReturn")),
        body("%z3 = OpFunctionCall %void %second"),
    ],
    "a procedure is called twice": [body("%z = OpFunctionCall %void %empty\n%z2 = OpFunctionCall %void %empty")],
    # Variables and constants.
    "an initializer of another type": [body(""), ("%x = OpVariable %pf Function", "%x = OpVariable %pf Function %n")],
    "an initializer": [("%x = OpVariable %pf Function", "%x = OpVariable %pf Function %c")],
    "an initializer of a variable of the module, of another type": [("%g = OpVariable %pp Private", "%g = OpVariable %pp Private %n")],
    "an initializer of a variable of the module": [("%g = OpVariable %pp Private", "%g = OpVariable %pp Private %c")],
    "an initializer that is null": [globals_("%z = OpConstantNull %f"), ("%g = OpVariable %pp Private", "%g = OpVariable %pp Private %z")],
    "an initializer that is null, of a struct": [globals_("%z = OpConstantNull %s"), ("%g = OpVariable %pp Private", "%g = OpVariable %pp Private %z")],
    "an initializer that is a variable": [globals_("%w = OpVariable %pp Private"), ("%g = OpVariable %pp Private", "%g = OpVariable %pp Private %w")],
    "OpConstantNull of void": [globals_("%z = OpConstantNull %void")],
    "OpConstantNull of a function type": [globals_("%z = OpConstantNull %procedure")],
    "OpConstantNull of an image": [globals_("%im = OpTypeImage %f 2D 0 0 0 1 Unknown\n%z = OpConstantNull %im")],
    "OpConstantNull of a sampler": [globals_("%im = OpTypeSampler\n%z = OpConstantNull %im")],
    "OpConstantNull of a runtime array": [globals_("%im = OpTypeRuntimeArray %f\n%z = OpConstantNull %im")],
    "OpConstantNull of a struct with a runtime array": [globals_("%im = OpTypeRuntimeArray %f\n%st = OpTypeStruct %im\n%z = OpConstantNull %st")],
    "OpConstantNull of a struct": [globals_("%z = OpConstantNull %s")],
    "OpConstantNull of an array": [globals_("%ar = OpTypeArray %s %n\n%z = OpConstantNull %ar")],
    "OpConstantNull of a vector": [globals_("%z = OpConstantNull %v2")],
    "OpConstantNull of a matrix": [globals_("%m = OpTypeMatrix %v2 2\n%z = OpConstantNull %m")],
    "OpConstantNull of a pointer": [globals_("%z = OpConstantNull %pf")],
    "OpConstantNull of a pointer with VariablePointersStorageBuffer": [
        ("OpCapability Shader", "OpCapability Shader\nOpCapability VariablePointersStorageBuffer"),
        globals_("%sb = OpTypePointer StorageBuffer %f\n%z = OpConstantNull %sb"),
    ],
    "OpConstantNull of a pointer to Workgroup with VariablePointersStorageBuffer": [
        ("OpCapability Shader", "OpCapability Shader\nOpCapability VariablePointersStorageBuffer"),
        globals_("%sb = OpTypePointer Workgroup %f\n%z = OpConstantNull %sb"),
    ],
    "OpConstantNull of a pointer with VariablePointers": [
        ("OpCapability Shader", "OpCapability Shader\nOpCapability VariablePointers"),
        globals_("%sb = OpTypePointer Workgroup %f\n%z = OpConstantNull %sb"),
    ],
    "a struct's member by null": [
        globals_("%z = OpConstantNull %u"),
        ("%x = OpVariable", "%y = OpVariable %ps Function\n%x = OpVariable"),
        body("%part = OpAccessChain %pf %y %z"),
    ],
    "a struct's member by an undefined number": [
        globals_("%z = OpUndef %u"),
        ("%x = OpVariable", "%y = OpVariable %ps Function\n%x = OpVariable"),
        body("%part = OpAccessChain %pf %y %z"),
    ],
    "a struct's member of another type by null": [
        globals_("%z = OpConstantNull %u"),
        ("%x = OpVariable", "%y = OpVariable %ps Function\n%x = OpVariable"),
        body("%part = OpAccessChain %ps %y %z"),
    ],
    "OpConstantNull of bool": [globals_("%z = OpConstantNull %bool")],
    "OpUndef of void": [body("%z = OpUndef %void")],
    "OpUndef of a function type": [body("%z = OpUndef %procedure")],
    "OpUndef of void in the module": [globals_("%z = OpUndef %void")],
    "OpUndef of a struct": [body("%z = OpUndef %s")],
    "OpUndef of an image": [globals_("%im = OpTypeImage %f 2D 0 0 0 1 Unknown\n%z = OpUndef %im")],
    "an array of -1": [globals_("%m1 = OpConstant %i -1\n%ar = OpTypeArray %f %m1")],
    "an array of 0": [globals_("%m1 = OpConstant %u 0\n%ar = OpTypeArray %f %m1")],
    "an array of the sign bit": [globals_("%m1 = OpConstant %u 0x80000000\n%ar = OpTypeArray %f %m1")],
    "an array of null": [globals_("%m1 = OpConstantNull %u\n%ar = OpTypeArray %f %m1")],
    "an array of 1": [globals_("%m1 = OpConstant %i 1\n%ar = OpTypeArray %f %m1")],
    "an array of a default of 0": [globals_("%m1 = OpSpecConstant %u 0\n%ar = OpTypeArray %f %m1")],
    "an array of a default of -1": [globals_("%m1 = OpSpecConstant %i -1\n%ar = OpTypeArray %f %m1")],
    "an array of a default of 1": [globals_("%m1 = OpSpecConstant %i 1\n%ar = OpTypeArray %f %m1")],
    "an array of a computed default of 0": [globals_("%m1 = OpSpecConstantOp %u ISub %n %n\n%ar = OpTypeArray %f %m1")],
    "an array of 0 in 64 bits": [("OpCapability Shader", "OpCapability Shader\nOpCapability Int64"), globals_("%l = OpTypeInt 64 1\n%m1 = OpConstant %l 0\n%ar = OpTypeArray %f %m1")],
    "an array of -1 in 64 bits": [("OpCapability Shader", "OpCapability Shader\nOpCapability Int64"), globals_("%l = OpTypeInt 64 1\n%m1 = OpConstant %l -1\n%ar = OpTypeArray %f %m1")],
    "an array of 3 in 64 bits": [("OpCapability Shader", "OpCapability Shader\nOpCapability Int64"), globals_("%l = OpTypeInt 64 1\n%m1 = OpConstant %l 3\n%ar = OpTypeArray %f %m1")],
    "an array of -1 in 16 bits": [("OpCapability Shader", "OpCapability Shader\nOpCapability Int16"), globals_("%l = OpTypeInt 16 1\n%m1 = OpConstant %l -1\n%ar = OpTypeArray %f %m1")],
}
# Decorations: of a member, by an id, and on each kind of thing.
FLOAT_CONTROLS_2 = (
    "OpCapability Shader\n",
    'OpCapability Shader\nOpCapability FloatControls2\nOpExtension "SPV_KHR_float_controls2"\n',
)
TARGETS = {
    "a float type": "%f",
    "a struct type": "%s",
    "a pointer type": "%pf",
    "a constant": "%c",
    "a variable": "%x",
    "a variable of the module": "%g",
    "a parameter": "%p",
    "a sum": "%sum",
    "a call": "%a",
    "a function": "%add",
}
DECORATIONS = ["NoSignedWrap", "NoUnsignedWrap", "RelaxedPrecision", "Volatile", "Coherent", "Restrict", "Aliased", "NonWritable", "NonReadable", "NoContraction", "Invariant", "Flat", "Centroid", "Patch", "Constant", "Block"]
for name in DECORATIONS:
    for where, target in TARGETS.items():
        CASES[f"{name} on {where}"] = [decorated(f"OpDecorate {target} {name}")]
    CASES[f"{name} on a member"] = [decorated(f"OpMemberDecorate %s 0 {name}")]
    CASES[f"{name} by an id"] = [decorated(f"OpDecorateId %sum {name}")]
for op, operands in [("IAdd", 2), ("ISub", 2), ("IMul", 2), ("ShiftLeftLogical", 2), ("SNegate", 1), ("UDiv", 2), ("ShiftRightLogical", 2), ("Not", 1), ("CopyObject", 1)]:
    for name in ("NoSignedWrap", "NoUnsignedWrap"):
        CASES[f"{name} on Op{op}"] = [decorated(f"OpDecorate %z {name}"), body(f"%z = Op{op} %u" + " %n" * operands)]
NUMBERED = ["SpecId", "Location", "Index", "Binding", "DescriptorSet", "InputAttachmentIndex", "ArrayStride", "Offset"]
for name in NUMBERED:
    CASES[f"{name} on a member"] = [decorated(f"OpMemberDecorate %s 0 {name} 4")]
    CASES[f"{name} on a struct type"] = [decorated(f"OpDecorate %s {name} 4")]
CASES |= {
    "FPFastMathMode on a member": [FLOAT_CONTROLS_2, decorated("OpMemberDecorate %s 0 FPFastMathMode NSZ")],
    "FPFastMathMode on a sum": [FLOAT_CONTROLS_2, decorated("OpDecorate %sum FPFastMathMode NSZ")],
    "Aliased and Restrict on a variable": [decorated("OpDecorate %g Aliased\nOpDecorate %g Restrict")],
    "Aliased and Restrict on two variables": [decorated("OpDecorate %g Aliased\nOpDecorate %x Restrict")],
    "UniformId by an id": [decorated("OpDecorateId %sum UniformId %sc"), globals_("%sc = OpConstant %u 3")],
    "UniformId by OpDecorate": [decorated("OpDecorate %sum UniformId %n")],
    "Offset on a member": [decorated("OpMemberDecorate %s 0 Offset 0")],
    "NonWritable on a variable of the workgroup": [decorated("OpDecorate %w NonWritable"), globals_("%pw = OpTypePointer Workgroup %f\n%w = OpVariable %pw Workgroup")],
    "Restrict on a pointer's parameter": [decorated("OpDecorate %q Restrict"), (";functions", """%fp = OpTypeFunction %void %pf
%taken = OpFunction %void None %fp
%q = OpFunctionParameter %pf
%block = OpLabel
OpReturn
OpFunctionEnd""".replace("%fp = OpTypeFunction %void %pf\n", "")), globals_("%fp = OpTypeFunction %void %pf")],
    "address of a pointer, Logical": [(";body", "%address = OpConvertPtrToU %u %x"), ("OpCapability Shader\n", "OpCapability Shader\nOpCapability Addresses\n")],
    "pointer of an address, Logical": [(";body", "%back = OpConvertUToPtr %pf %n"), ("OpCapability Shader\n", "OpCapability Shader\nOpCapability Addresses\n")],
    "address of a pointer": [*KERNEL, (";body", "%address = OpConvertPtrToU %i %x")],
    "pointer of an address": [*KERNEL, (";body", "%back = OpConvertUToPtr %pf %wide"), globals_("%wide = OpConstant %i 7")],
    "store to a constant of a kernel": [*KERNEL, (";body", "OpStore %k %c"), globals_("%pk = OpTypePointer UniformConstant %f\n%k = OpVariable %pk UniformConstant %c")],
    "load of a constant of a kernel": [*KERNEL, (";body", "%loaded = OpLoad %f %k"), globals_("%pk = OpTypePointer UniformConstant %f\n%k = OpVariable %pk UniformConstant %c")],
    "scalar made of constituents": [globals_("%composite = OpConstantComposite %f %c")],
    "bool made of constituents": [globals_("%composite = OpConstantComposite %bool %true")],
    "vector of itself": [globals_("%own = OpTypeVector %own 3\n%none = OpConstantNull %own")],
    "vector of a later vector": [globals_("%own = OpTypeVector %later 3\n%later = OpTypeVector %own 3\n%none = OpConstantNull %own")],
    "struct of itself": [globals_("%own = OpTypeStruct %f %own\n%none = OpConstantNull %own")],
}
ENVIRONMENTS = ("spv1.5", "vulkan1.3")
SLOTS = (";decorations", ";globals", ";functions", ";body")

with Judge(sys.argv[1:], "universal") as judge:
    for case, changes in CASES.items():
        for environment in ENVIRONMENTS:
            text = BASE
            for old, new in changes:
                assert old in text, (case, old)
                text = text.replace(old, new)
            for slot in SLOTS:
                text = text.replace(f"{slot}\n", "")
            judge.record(case, environment, text)
