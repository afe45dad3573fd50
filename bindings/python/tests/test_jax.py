"""Functions of JAX: their statements, and what `jax.jit` makes of them on a CPU. NumPy and exact fractions are the judges."""

import doctest
import functools
import json
import os
import subprocess
import sys

import judge
import numpy as np
import pytest
import roundonce

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install roundonce[jax]")
import jax.numpy as jnp  # noqa: E402
import roundonce.jax  # noqa: E402

RANDOM = np.random.default_rng(2)
A, B, C = (RANDOM.standard_normal(300).astype(np.float32) for _ in range(3))
M = RANDOM.standard_normal((4, 3)).astype(np.float32)


def text(function, *inputs):
    return roundonce.jax.trace(function, inputs).text()


def fused(a, b, c):
    """a × b + c, rounded once, by exact fractions."""
    return np.array(judge.fused(a, b, c), np.uint32).view(np.float32)


def residual(a, b, c):
    product = a * b
    return product + c


def sentence(report):
    ((answer),) = report.answers.values()
    return answer.data["seen"][0]["groups"][0]["sentence"]


def test_a_function_is_asked_about():
    report = roundonce.why(residual, *map(jnp.asarray, (A, B, C)), saw=fused(A, B, C))
    assert report.trace.text() == "product = a * b; product + c" and sentence(report).startswith("fuses `a * b`")
    first = residual.__code__.co_firstlineno
    assert [operation.place.line for operation in report.trace.operations] == [first + 1, first + 2]
    assert str(report).splitlines()[1] == f"  product = a * b   f32 lax.mul test_jax.py:{first + 1}"
    # Op by op it is as written.
    assert sentence(roundonce.why(residual, *map(jnp.asarray, (A, B, C)))).startswith("rounds every operation as written")


def test_jit_is_what_runs():
    """A compiled function is run as it is; on a CPU with fused multiply-add XLA contracts."""
    compiled = jax.jit(residual)
    report = roundonce.why(compiled, A, B, C)
    bits = np.asarray(compiled(A, B, C)).view(np.uint32)
    is_fused = np.array_equal(bits, fused(A, B, C).view(np.uint32))
    assert is_fused or np.array_equal(bits, (A * B + C).view(np.uint32))
    assert sentence(report).startswith("fuses `a * b`" if is_fused else "rounds every operation as written")


def cube(a):
    square = a * a
    return square * a


def doubled(function):
    @functools.wraps(function)
    def twice(a):
        return function(a) * 2

    return twice


TRANSFORMED = [jax.vmap(jax.grad(cube)), jax.vmap(lambda a: a * 3 - 1), jax.checkpoint(cube), doubled(cube), jax.jit(jax.jit(cube))]


@pytest.mark.parametrize("function", TRANSFORMED)
def test_what_is_compiled_is_traced_as_it_is(function):
    """`jax.jit` alone is taken off: what else wraps a function is part of what it computes."""
    traced = roundonce.trace(jax.jit(function), A)
    assert traced.text() == roundonce.trace(function, jnp.asarray(A)).text()
    found = roundonce.why(traced.text(), saw=np.asarray(function(jnp.asarray(A))), **{traced.inputs[0].name: A})
    assert found.data["seen"][0]["unexplained"] == 0, str(found)


def test_the_transformation_is_not_lost():
    assert text(jax.jit(jax.vmap(lambda a: a.sum())), M) == "sum(a, 1)"
    assert text(jax.jit(doubled(lambda a: a + 1)), A) == "t1 = a + 1.0f; t1 * 2.0f"
    derivative = roundonce.trace(jax.jit(jax.grad(lambda a: a * a)), np.float32(1.25))
    assert "a * a" not in derivative.text() and derivative.text().count("a") >= 2
    assert roundonce.jax.compare(jax.jit(jax.vmap(jax.grad(lambda a: a * 3))), A).equal


def test_keys_are_refused():
    def draws(x):
        return x + jax.random.normal(jax.random.key(0), (300,))

    with pytest.raises(roundonce.Untraceable, match=r"^test_jax.py:\d+: lax.random_.*: of key.*: expected floats"):
        roundonce.why(draws, jnp.asarray(A))
    with pytest.raises(roundonce.Untraceable, match="^key: of key"):
        roundonce.trace(lambda x, key: x + jax.random.normal(key, (300,)), jnp.asarray(A), jax.random.key(0))


def test_parts_are_one_where_their_indices_are():
    first = np.arange(2000) % 300
    second = first.copy()
    second[100:1900] = second[100:1900][::-1]
    one, other = jnp.asarray(first), jnp.asarray(second)
    assert text(lambda x: x[one] * x[other] + x[one], jnp.asarray(A)) == "t1 = x_1 * x_2; t1 + x_1"


def test_a_function_made_by_jax_takes_arrays_of_numpy():
    """`jax.grad(f)` is a function of Python's: the module that made it says whose it is."""
    for function in (jax.vmap(lambda a: a * a + a), jax.grad(lambda a: (a * a * a).sum())):
        assert roundonce.trace(function, A).text() == roundonce.trace(function, jnp.asarray(A)).text()
        assert "none fits" not in str(roundonce.why(function, A))


@pytest.mark.parametrize(
    "function, want",
    [
        (lambda x: 2 * x - 1, "t1 = 2.0f * x; t1 - 1.0f"),
        (lambda x: x.astype(jnp.bfloat16) * 0.1, "t1 = bf16(x); t1 * 0.10009765625b"),
        (lambda x: x**3, "t1 = x * x; x * t1"),
        (lambda x: x**-4, "t1 = x * x; t2 = t1 * t1; 1.0f / t2"),
        (lambda x: x**0.5, "pow(x, 0.5f)"),
        (lambda x: jax.nn.sigmoid(x), "1.0f / (1.0f + exp(-x))"),
        (lambda x: jax.nn.relu(x), "maximum(x, 0.0f)"),
        (lambda x: jnp.clip(x, 0, 1), "t1 = maximum(0.0f, x); minimum(1.0f, t1)"),
        (lambda x: jax.lax.clamp(0.0, x, 1.0), "minimum(maximum(x, 0.0f), 1.0f)"),
        (lambda x: jnp.arctan2(jnp.log1p(x), jnp.sqrt(2.0)), "t1 = log1p(x); t2 = sqrt(2.0f); atan2(t1, t2)"),
        (lambda x: jnp.trunc(x) + jnp.fmin(x, 1), "t1 = trunc(x); t2 = min(x, 1.0f); t1 + t2"),
        (lambda x: (x > 0) * x, "t1 = x > 0.0f; t2 = f32(t1); t2 * x"),
        (lambda x: x[1:] - x[:-1], "x_1 - x_2"),
        (lambda x: x - x[0], "x - x_2"),
        (lambda x: x.T + x[:, :1].reshape(4) * 0, "x_1 + t1"),
        (lambda x: x + C[:3], "x + k"),
        (lambda x: x / x.sum(1, keepdims=True), "t2 = sum(x, 1, keepdims=True); x / t2"),
        (lambda x: jnp.mean(x * x), "t2 = sum(x * x); t2 / 12.0f"),
        (lambda x: x @ x.T, "x @ x_1"),
        (lambda x: jnp.broadcast_to(x, (2, 4, 3)).sum(0), "sum(x_1, 0)"),
        (lambda x: jax.lax.broadcast_in_dim(2 * x[:, :1], (4, 3), (0, 1)) * x, "t1 = 2.0f * x_1; t1 * x"),
        (lambda x: jax.jit(lambda y: y + 1)(x) * 2, "t1 = x + 1.0f; t1 * 2.0f"),
        (lambda x: x, "x"),
    ],
)
def test_statements(function, want):
    assert text(function, M).endswith(want)


def test_softmax():
    x = np.random.default_rng(1).standard_normal((4, 20)).astype(np.float32)
    report = roundonce.why(lambda x: jax.nn.softmax(x), jnp.asarray(x))
    assert report.trace.text() == "t4 = sum(exp(x - x_2), 1, keepdims=True); t1 = x - x_2; t2 = exp(t1); t2 / t4"
    assert "x_2 is x.reduce_max(axes=(1,))" in str(report)


def test_statements_compute_what_jax_does():
    def function(a, b, c):
        scaled = a * 0.3 - b / (c + 9)
        norm = jnp.sqrt(jnp.abs(scaled) + c * c)
        return jnp.maximum(jnp.clip(norm, 0.1, 2.5), -b) ** 2 / (1 + jnp.floor(c))

    report = roundonce.why(function, *(jnp.asarray(x) for x in (A, B, C)))
    ((answer),) = report.answers.values()
    assert answer.data["seen"][0]["unexplained"] == 0
    assert sentence(report) == "rounds every operation as written, to nearest even"


def test_integers_that_jax_rounds_to():
    ties = jnp.asarray(np.float32([0.5, 1.5, 2.5, -0.5, -2.5, 3.25, 1e9]))
    for function, want in [
        (lambda x: jnp.round(x) + jnp.fmod(x, 2.0), "rint("),
        (lambda x: jax.lax.round(x) + jax.lax.rem(x, 2.0), "round("),
    ]:
        report = roundonce.why(function, ties)
        assert want in report.trace.text()
        ((answer),) = report.answers.values()
        assert answer.data["seen"][0]["unexplained"] == 0
        assert sentence(report) == "rounds every operation as written, to nearest even"


def test_a_constant_divisor_is_a_reciprocal():
    """XLA multiplies by the reciprocal of a constant, even op by op."""
    report = roundonce.why(lambda x: x / 7, jnp.asarray(A))
    bits = np.asarray(jnp.asarray(A) / 7).view(np.uint32)
    if np.array_equal(bits, (A / np.float32(7)).view(np.uint32)):
        pytest.skip("this XLA divides")
    assert np.array_equal(bits, (A * (np.float32(1) / np.float32(7))).view(np.uint32))
    assert sentence(report) == "computes a / b as a * (1 / b), which rounds twice"


def test_names_and_inputs():
    def function(x, k, scale=2):
        shifted = x + k
        for _ in range(scale):
            shifted = shifted * k
        return {"a": shifted, "b": (shifted, k * x)}

    trace = roundonce.trace(function, jnp.asarray(A), 0.5)
    several = roundonce.why(function, jnp.asarray(A), 0.5)
    assert [answer.data["seen"][0]["unexplained"] for answer in several.answers.values()] == [0, 0]
    assert [node.name for node in trace.results] == ["shifted", "shifted", "t4"]
    assert trace.text() == "t1 = x + 0.5f; t2 = t1 * 0.5f; t2 * 0.5f"
    assert roundonce.jax.trace(jax.jit(residual), [1.5, 2.5, 3.5]).results[0].format == "f32"
    with pytest.raises(TypeError, match="residual takes 3 inputs: found 4"):
        roundonce.jax.trace(residual, [A] * 4)


@pytest.mark.parametrize(
    "function, operation, reason",
    [
        (lambda x: jax.lax.cumsum(x), "lax.cumsum", "has no form.*atan2.*tanh"),
        (lambda x: jnp.where(x > 0, x, 0), "lax.select_n", "the side that was taken"),
        (lambda x: jax.pmap(lambda v: v * 2)(x[None]), "lax.shard_map", "has no form"),
        (lambda x: x if x[0] > 0 else -x, "if", "depends on a value"),
        (lambda x: x * float(x[0]), "a value", "Abstract tracer value"),
        (lambda x: jax.lax.fori_loop(0, 3, lambda _, y: y * 2, x), "lax.scan", "no loops"),
        (lambda x: (2 * x)[1:], "lax.slice", "element by element"),
        (lambda x: jnp.concatenate([x, x]), "lax.concatenate", "joins|element by element"),
        (lambda x: jnp.max(2 * x), "lax.reduce_max", "as an argument"),
        (lambda x: jax.lax.dot_general(x[None], x[None], (((0,), (0,)), ((), ()))), "lax.dot_general", "expected a @ b"),
        (lambda x: jnp.broadcast_to(2 * x, (2, 300)).sum(1), "lax.reduce_sum", r"of t1, whose shape \(300,\) was made \(2, 300\)"),
        (lambda x: x.astype(int) + 1, "lax.convert_element_type", "expected floats"),
        (lambda x: 3.0, "<lambda>", "returned what is computed of none"),
    ],
)
def test_what_cannot_be_traced_is_named(function, operation, reason):
    line = function.__code__.co_firstlineno
    with pytest.raises(roundonce.Untraceable, match=rf"(?s)^test_jax.py:{line}: {operation}: .*{reason}") as caught:
        roundonce.jax.trace(function, [A])
    assert (caught.value.file, caught.value.line) == (__file__, line)


def test_jit_against_op_by_op():
    compared = roundonce.jax.compare(residual, A, B, C)
    compiled, plain = np.asarray(jax.jit(residual)(A, B, C)), A * B + C
    assert compared.sides == ("op by op on cpu", "jax.jit on cpu") and compared.operations == 2
    differ = np.flatnonzero(compiled.view(np.uint32) != plain.view(np.uint32))
    assert compared.equal == (not differ.size)
    if compared.equal:
        pytest.skip("XLA does not contract on this CPU")
    ((result),) = compared.results
    assert result.count == differ.size and result.index == (differ[0],)
    assert result.bits == tuple(f"0x{x.view(np.uint32)[differ[0]]:08x}" for x in (plain, compiled))
    assert compared.first.name == "lax.add" and compared.first.place.line == residual.__code__.co_firstlineno + 2
    assert [own.name for own in compared.own] == ["lax.add"]
    plainly, fuses = (seen["groups"][0]["sentence"] for seen in compared.why.answers["t2"].data["seen"])
    assert plainly == "rounds every operation as written, to nearest even" and fuses.startswith("fuses `a * b` into the sum")
    assert "jax.jit on cpu: the evaluation that fuses" in str(compared) and "cannot be seen" in str(compared)
    data = json.loads(json.dumps(compared.as_dict()))
    assert data["first"]["line"] == compared.first.place.line and not data["equal"]


def test_the_difference_is_explained_where_it_begins():
    """What stands before the operations that differ is given as values."""

    def function(x, y):
        for _ in range(5):
            x = jnp.sin(x) * 1.5
        return jnp.tanh(x * y + 1)

    compared = roundonce.jax.compare(function, A, B)
    if compared.equal:
        pytest.skip("XLA does not contract on this CPU")
    assert compared.first.name == "lax.add" and len(compared.why.trace.operations) == 2
    ((answer),) = compared.why.answers.values()
    assert answer.data["seen"][1]["groups"][0]["sentence"].startswith("fuses ")
    assert roundonce.jax.compare(jnp.tanh, A).equal


def test_nothing_contracts_without_the_instruction():
    """XLA compiles for what it may use: without fused multiply-add both sides agree."""
    script = (
        "import numpy as np, roundonce.jax\n"
        "a, b, c = np.random.default_rng(2).standard_normal((3, 300)).astype(np.float32)\n"
        "print(roundonce.jax.compare(lambda a, b, c: a * b + c, a, b, c).equal)"
    )
    environment = {**os.environ, "XLA_FLAGS": "--xla_cpu_max_isa=AVX"}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    if "xla_cpu_max_isa" in ran.stderr:
        pytest.skip("XLA has no such flag for this CPU")
    assert ran.stdout.strip() == "True", ran.stderr


def test_docstrings():
    failed, tried = doctest.testmod(roundonce.jax, extraglobs={"np": np})
    assert tried and not failed
