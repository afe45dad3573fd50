"""What `why` answers in JSON, against docs/schema/why.json and why-kernel.json."""

import copy
import json
import pathlib

import jsonschema
import numpy as np
import pytest
import roundonce

ROOT = pathlib.Path(__file__).parents[3]
SCHEMA, KERNEL_SCHEMA = (json.loads((ROOT / "docs/schema" / name).read_text()) for name in ("why.json", "why-kernel.json"))
VALIDATOR, KERNEL_VALIDATOR = map(jsonschema.Draft202012Validator, (SCHEMA, KERNEL_SCHEMA))


def answers():
    x = np.float32(1.0000001)
    yield roundonce.why("a*a - b", a=x, b=x, saw=[np.float32(1.1920930376163597e-07), np.float32(1.1920929e-07)])
    yield roundonce.why("a*b + c*d", a="1.1f", b="2.3f", c="-2.3f", d="1.1f", saw=["0", "1e-7", "7"])
    yield roundonce.why("fma(a,b,c)", a="0x00400000", b="0x3f800000", c="0x80800000", saw="0x80000000")
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(100).astype(np.float32) for _ in range(3))
    fused = roundonce.fma(a, b, c)
    yield roundonce.why("a*b + c", a=a, b=b, c=c, saw=fused)
    noise = fused.copy()
    noise[::7] *= np.float32(1.001)
    yield roundonce.why("a*b + c", a=a, b=b, c=c, saw=noise, allow="directed")


def kernel_answers():
    data = ROOT / "tests/cli/why-kernel.in"
    x, y, gpu = (np.load(data / name) for name in ("x.npy", "y.npy", "gpu.npy"))
    args = {"a": np.float32(2.5177777), "x": x, "y": y, "n": np.uint32(64)}
    odd = gpu.copy()
    odd[3] = np.nextafter(odd[3], np.float32(9))
    up = np.nextafter(gpu, np.float32(np.inf))
    for saw in ({"y": gpu}, {"y": odd}, [{"y": gpu}, {"y": up}]):
        yield roundonce.why_kernel(data / "axpy.ptx", 1, 64, args, saw=saw)


def has_the_form(validator, data):
    validator.validate(data)
    # And nothing else has it: a field more, a field less, another version.
    for change in (lambda d: d.update(more=1), lambda d: d.pop("seen"), lambda d: d.update(schema=2)):
        wrong = copy.deepcopy(data)
        change(wrong)
        assert not validator.is_valid(wrong)


@pytest.mark.parametrize("at", range(5))
def test_an_answer_has_the_form(at):
    has_the_form(VALIDATOR, list(answers())[at].data)


@pytest.mark.parametrize("at", range(3))
def test_an_answer_about_a_kernel_has_the_form(at):
    has_the_form(KERNEL_VALIDATOR, list(kernel_answers())[at].data)


def test_the_schemas_are_schemas():
    for schema in (SCHEMA, KERNEL_SCHEMA):
        jsonschema.Draft202012Validator.check_schema(schema)
