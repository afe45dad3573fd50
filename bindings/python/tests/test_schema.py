"""What `why` answers in JSON, against docs/schema/why.json."""

import copy
import json
import pathlib

import jsonschema
import numpy as np
import pytest
import roundonce

SCHEMA = json.loads((pathlib.Path(__file__).parents[3] / "docs" / "schema" / "why.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


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


@pytest.mark.parametrize("at", range(5))
def test_an_answer_has_the_form(at):
    data = list(answers())[at].data
    VALIDATOR.validate(data)
    # And nothing else has it: a field more, a field less, another version.
    for change in (lambda d: d.update(more=1), lambda d: d.pop("seen"), lambda d: d.update(schema=2)):
        wrong = copy.deepcopy(data)
        change(wrong)
        assert not VALIDATOR.is_valid(wrong)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
