"""Functions of torch: their statements, and comparisons on a CPU. NumPy and exact fractions are the judges.

`test.sh --torch` installs what this wants.
"""

import doctest
import json
import math
from fractions import Fraction

import judge
import ml_dtypes
import numpy as np
import pytest
import roundonce

torch = pytest.importorskip("torch", reason="torch is not installed, which is large: test.sh --torch")
import roundonce.torch  # noqa: E402

RANDOM = np.random.default_rng(3)
A, B, C = (torch.from_numpy(RANDOM.standard_normal(256).astype(np.float32)) for _ in range(3))
M = torch.from_numpy(RANDOM.standard_normal((4, 3)).astype(np.float32))
H = M.half()


def text(function, *inputs):
    return roundonce.torch.trace(function, inputs).text()


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
    report = roundonce.why(residual, A, B, C, saw=torch.from_numpy(fused(A, B, C)))
    assert report.trace.text() == "product = a * b; product + c" and sentence(report).startswith("fuses `a * b`")
    first = residual.__code__.co_firstlineno
    assert [operation.place.line for operation in report.trace.operations] == [first + 1, first + 2]
    assert str(report).splitlines()[1] == f"  product = a * b   f32 aten.mul.Tensor test_torch.py:{first + 1}"
    assert sentence(roundonce.why(residual, A, B, C)).startswith("rounds every operation as written")
    assert sentence(roundonce.why(residual, A, B, C, saw={"product": A * B})).startswith("rounds every operation")
    assert roundonce.trace(residual, A, B, C).text() == report.trace.text()
    several = roundonce.why(lambda a, b: {"sum": a + b, "more": [a - b]}, A, B)
    assert [answer.data["seen"][0]["unexplained"] for answer in several.answers.values()] == [0, 0]


def test_graphs_modules_and_meta_tensors():
    assert text(torch.fx.symbolic_trace(residual), A, B, C) == "product = a * b; product + c".replace("product", "t1")
    meta = [x.to("meta") for x in (A, B, C)]
    assert text(residual, *meta) == "product = a * b; product + c"
    with pytest.raises(ValueError, match="a, b, c has no values|have no values"):
        roundonce.why(residual, *meta, saw=A)
    linear = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    assert text(linear, M) == "t1 = (input @ p0_weight_1) + p0_bias; maximum(t1, 0.0f)"

    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.Parameter(B.clone())

        def forward(self, x):
            scaled = x * self.factor
            return scaled + 1

    report = roundonce.why(Scale(), A)
    assert report.trace.text() == "scaled = x * factor; scaled + 1.0f"
    assert sentence(report).startswith("rounds every operation as written")


@pytest.mark.parametrize(
    "function, want",
    [
        (lambda x: 2 * x - 1, "t1 = x * 2.0f; t1 - 1.0f"),
        (lambda x: 1 - x / 3, "t1 = x / 3.0f; 1.0f - t1"),
        (lambda x: x**2 + x**3, "t1 = x * x; t2 = x * x * x; t1 + t2"),
        (lambda x: x**-0.5 + x**1.5, "t1 = 1.0f / sqrt(x); t2 = pow(x, 1.5f); t1 + t2"),
        (lambda x: torch.addcmul(x, x, x, value=0.5), "x + 0.5f * x * x"),
        (lambda x: torch.addcdiv(x, x, x), "x + x / x"),
        (lambda x: torch.add(x, x, alpha=0.1), "x + 0.1f * x"),
        (lambda x: torch.lerp(x, x, 0.25), "x + 0.25f * (x - x)"),
        (lambda x: torch.lerp(x, x, 0.75), "x - (x - x) * (1.0f - 0.75f)"),
        (lambda x: x.clamp(-1, 1), "minimum(maximum(x, (-1.0f)), 1.0f)"),
        (lambda x: torch.sigmoid(torch.relu(x)), "t1 = maximum(x, 0.0f); 1.0f / (1.0f + exp(-t1))"),
        (lambda x: torch.nn.functional.silu(x), "x / (1.0f + exp(-x))"),
        (lambda x: torch.nn.functional.gelu(x), "x * 0.5f * (1.0f + erf(x * 0.70710677f))"),
        (lambda x: torch.rsqrt(torch.abs(x)), "t1 = abs(x); rsqrt(t1)"),
        (lambda x: (x > 0) * x, "t1 = x > 0.0f; f32(t1) * x"),
        (lambda x: x.double() * x, "t1 = f64(x); t1 * f64(x)"),
        (lambda x: x * torch.tensor(0.1), "x * 0.1f"),
        (lambda x: x + torch.arange(3), "x + k"),
        (lambda x: x[1:] - x[:-1], "x_1 - x_2"),
        (lambda x: x - x[0], "x - x_1"),
        (lambda x: x @ x.T, "x @ x_1"),
        (lambda x: x.expand(2, 4, 3).sum(0), "sum(x_1, 0)"),
        (lambda x: x / x.sum(1, keepdim=True), "t1 = sum(x, 1, keepdims=True); x / t1"),
        (lambda x: (x / x.mean(1)[:, None]), "t2 = mean(x, 1, keepdims=True); x / t2"),
        (lambda x: x.detach().clone(), "x"),
        (lambda x: x.bool() * x, "t1 = x != 0.0f; f32(t1) * x"),
        (lambda x: (2 * x).view(12).view(4, 3) - x.view(torch.float32), "t1 = x * 2.0f; t1 - x"),
        (lambda x: (2 * x[0]) @ x.T, "(x_1 * 2.0f) @ x_2"),
    ],
)
def test_statements(function, want):
    assert text(function, M) == want


@pytest.mark.parametrize(
    "function, want",
    [
        (lambda x: x * 2 + 0.5, "t1 = x * 2.0h; t1 + 0.5h"),
        # A factor or divisor that the type does not hold stays a float32, any other number is rounded to the type.
        (lambda x: x * 0.1, "t1 = f32(x) * 0.1f; f16(t1)"),
        (lambda x: x / torch.tensor(0.1), "t1 = f32(x) / 0.1f; f16(t1)"),
        (lambda x: torch.tensor(0.1) * x, "0.1h * x"),
        (lambda x: 0.3 - x + 0.3, "t1 = 0.3h - x; t1 + 0.3h"),
        (lambda x: x**3 + 0.1**x, "t1 = pow(x, 3.0h); t2 = pow(0.1h, x); t1 + t2"),
        (lambda x: (x == 0.1) * x, "t1 = x == 0.1h; f16(t1) * x"),
        (lambda x: x + torch.tensor(1 + 2**-11 + 2**-40, dtype=torch.float64), "x + 1.0h"),
        (lambda x: x.double().half(), "t1 = f64(x); t2 = f32(t1); f16(t2)"),
        (lambda x: torch.sigmoid(x), "t1 = 1.0f / (1.0f + exp(-f32(x))); f16(t1)"),
        (lambda x: x * M, "f32(x) * k"),
    ],
)
def test_halves(function, want):
    assert text(function, H) == want


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_what_torch_rounds_once_is_explained_as_written(dtype):
    """The statements compute what torch does, for whatever it rounds once, also of numbers that the type does not hold."""

    def function(a, b):
        scaled = a * 0.3 - b / 7
        return torch.maximum(torch.abs(scaled), -b).clamp(0.1, 2.5) + 0.001

    report = roundonce.why(function, A.to(dtype), B.to(dtype))
    ((answer),) = report.answers.values()
    assert answer.data["seen"][0]["unexplained"] == 0
    assert sentence(report) == "rounds every operation as written, to nearest even"


def rounded(value, digits, least):
    """A fraction to nearest even, in a format of so many binary digits, of which the last is not below 2^least."""
    if not value:
        return value
    exponent = math.frexp(float(abs(value)))[1]
    unit = Fraction(2) ** max(exponent - digits, least)
    return round(value / unit) * unit


def single(value):
    return rounded(Fraction(value), 24, -149)


NARROW = {torch.float16: lambda value: rounded(value, 11, -24), torch.bfloat16: lambda value: rounded(value, 8, -133)}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    "function, exact",
    [
        (lambda x: x + 0.3, lambda x, to: x + to(single(0.3))),
        (lambda x: 0.3 - x, lambda x, to: to(single(0.3)) - x),
        (lambda x: x + torch.tensor(0.3), lambda x, to: x + to(single(0.3))),
        (lambda x: x * 0.3, lambda x, to: single(x * single(0.3))),
        (lambda x: x * torch.tensor(0.3), lambda x, to: single(x * single(0.3))),
        (lambda x: torch.tensor(0.3) * x, lambda x, to: x * to(single(0.3))),
        (lambda x: x / torch.tensor(0.3), lambda x, to: single(x / single(0.3))),
        (lambda x: x.clone().mul_(torch.full_like(x, 0.3, dtype=torch.float32)), lambda x, to: single(x * single(0.3))),
        (lambda x: (x.double() * (1 + 2.0**-30)).to(x.dtype), lambda x, to: single(x * (1 + Fraction(2) ** -30))),
        (lambda x: (x == 0.1) * x, lambda x, to: x if x == to(single(0.1)) else Fraction(0)),
    ],
)
def test_numbers_beside_16_bits(function, exact, dtype):
    """Exact fractions say which type a number has in torch, and the trace says the same."""
    x = torch.cat([A, torch.full((4,), 0.1)]).to(dtype)
    for given in (x, x[::3]):
        want = [float(NARROW[dtype](exact(Fraction(value), NARROW[dtype]))) for value in given.double().tolist()]
        assert function(given).double().tolist() == want
        report = roundonce.why(function, given)
        ((answer),) = report.answers.values()
        assert answer.data["seen"][0]["unexplained"] == 0, report.trace.text()
        assert sentence(report) == "rounds every operation as written, to nearest even"


def test_powers_of_16_bits():
    """The power of float16 is taken in float32; of bfloat16 each step is rounded."""
    for dtype in NARROW:
        for exponent in (3, -2, -1, 2, 0.5, 0.3):
            report = roundonce.why(lambda x: x**exponent, A.abs().to(dtype))
            assert sentence(report) == "rounds every operation as written, to nearest even", (dtype, exponent)
            assert next(iter(report.answers.values())).data["seen"][0]["unexplained"] == 0
    with pytest.raises(roundonce.Untraceable, match="to the power of -0.5, of bfloat16: whether the root is rounded"):
        text(lambda x: x**-0.5, A.bfloat16())
    with pytest.raises(roundonce.Untraceable, match="with alpha, of 16 bits: whether the product is rounded"):
        text(lambda x: torch.add(x, x, alpha=3), H)


def test_a_number_without_axes_keeps_its_type():
    number = torch.tensor(0.3, dtype=torch.float64)
    assert text(lambda x, s: x * s, H, number) == "t1 = f32(x) * f32(s); f16(t1)"
    assert text(lambda x, s: x + s, H, number) == "t1 = f32(s); x + f16(t1)"
    assert sentence(roundonce.why(lambda x, s: x * s, A.half(), number)).startswith("rounds every operation as written")


def test_whole_numbers_are_rounded_once():
    number = 2**60 + 2**36 + 1
    for given in (number, torch.tensor(number), torch.full((9,), number)):
        report = roundonce.why(lambda x: x * given, torch.ones(9))
        assert sentence(report).startswith("rounds every operation as written"), report.trace.text()
    report = roundonce.why(lambda x, n: x * n, A, torch.arange(256))
    assert report.trace.made == {"k": "n, of int64, made f32"}


def test_what_is_written_has_the_type_of_the_target():
    def mixed(x, y):
        total = x + x
        total *= y
        return total

    assert text(mixed, H, M) == "t1 = x + x; t2 = f32(t1) * y; f16(t2)"
    assert text(mixed, M, M.double()) == "t1 = x + x; t2 = f64(t1) * y; f32(t2)"
    assert sentence(roundonce.why(mixed, A, B.double() / 3)).startswith("rounds every operation as written")


def test_a_scaled_sum_is_fused():
    """torch.add with alpha is a fused multiply-add in the vector code of a CPU that has one."""
    report = roundonce.why(lambda a, b: torch.add(a, b, alpha=0.1), A, B)
    got = torch.add(A, B, alpha=0.1).numpy().view(np.uint32)
    is_fused = np.array_equal(got, fused(np.full(256, 0.1, np.float32), B, A).view(np.uint32))
    assert sentence(report).startswith("fuses `0.1f * b`" if is_fused else "rounds every operation as written")


def test_assignments():
    def function(x, y):
        z = x + y
        same = z
        z *= y
        return same - x

    before = A.clone()
    assert text(function, A, B) == "t1 = x + y; same = t1 * y; same - x"

    def writes(x):
        x += 1
        return x

    assert text(writes, A) == "x + 1.0f" and torch.equal(A, before)

    def writes_a_view(x):
        x[1:] += 1
        return x

    def writes_out(x):
        return torch.add(x, x, out=torch.empty(256))

    for wrong in (writes_a_view, writes_out):
        with pytest.raises(roundonce.Untraceable, match="writes into a tensor that others see"):
            text(wrong, A)


@pytest.mark.parametrize(
    "function, operation, reason",
    [
        (lambda x: torch.where(x > 0, x, 0), "aten.where", "has no form.*addcmul.*tanh"),
        (lambda x: x if x[0] > 0 else -x, "aten._local_scalar_dense", "depends on a value"),
        (lambda x: x * x[0].item(), "aten._local_scalar_dense", "depends on a value"),
        (lambda x: torch.softmax(x, 0), "aten._softmax", "has no form"),
        (lambda x: (2 * x)[1:], "aten.slice", "element by element"),
        (lambda x: (2 * x).expand(2, 256).sum(1), "aten.sum", r"of t1, whose shape \(256,\) was made \(2, 256\)"),
        (lambda x: torch.cat([x, x]), "aten.cat", "joins or splits"),
        (lambda x: torch.div(x, x, rounding_mode="floor"), "aten.div", "with rounding_mode='floor'"),
        (lambda x: torch.lerp(x, x, x), "aten.lerp", "with a tensor of weights"),
        (lambda x: x.max(0), "aten.max", "has no form"),
        (lambda x: x.int(), "aten._to_copy", "expected floats"),
        (lambda x: x.view(torch.int32).float(), "aten.view.dtype", "it takes bits of f32 as torch.int32"),
        (lambda x: x + torch.rand(256), "aten.rand", "it makes random numbers"),
        (lambda x: torch.dropout(x, 0.5, True), "aten.bernoulli_", "it makes random numbers"),
        (lambda x: torch.from_numpy(np.exp(x.numpy())) * x, "Tensor.numpy", "taken out of the trace"),
        (lambda x: torch.from_numpy(np.exp(x)) * x, "Tensor.__array__", "taken out of the trace"),
        (lambda x: torch.tensor(x.tolist()) * x, "Tensor.tolist", "taken out of the trace"),
        (lambda x: torch.autograd.grad((x * x).sum(), x)[0], "torch.autograd.grad", "run without gradients"),
        (lambda x: (x * x).sum().backward(), "Tensor.backward", "run without gradients"),
        (lambda x: torch.ones(3), "<lambda>", "computed of none of its tensors"),
        (lambda x: (x * 2, 3), "<lambda>", "returned int: expected tensors"),
    ],
)
def test_what_cannot_be_traced_is_named(function, operation, reason):
    line = function.__code__.co_firstlineno
    with pytest.raises(roundonce.Untraceable, match=rf"(?s)^test_torch.py:{line}: {operation}.*: .*{reason}") as caught:
        roundonce.torch.trace(function, [A])
    assert (caught.value.file, caught.value.line) == (__file__, line)


def test_what_is_set_in_parts_is_refused():
    """The tensor that a part was taken of is in the same memory, and was no traced value."""

    def added(x):
        base = torch.zeros(256)
        part = base.view(256)
        part.add_(x * 0.1)
        return base + x

    def element(x):
        base = torch.zeros(3)
        base[0] = x[0] * 2
        return base

    for function in (added, element):
        with pytest.raises(roundonce.Untraceable, match="a traced value is in the memory of a tensor that is not"):
            text(function, A)

    def whole(x):
        base = torch.zeros(256)
        base += x
        return base * x

    assert text(whole, A) == "base = k + x; base * x"


def test_shapes_that_do_not_change_what_is_computed():
    """torch puts the rows of a stack in one axis for a product, and takes a vector as one row."""

    def whole(*shape):
        # Sums of these are exact in every order.
        return torch.from_numpy(RANDOM.integers(-8, 8, shape).astype(np.float32))

    stack, weight = whole(2, 4, 3), whole(3, 5)
    linear = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    assert text(linear, stack) == (
        "t1 = (input @ p0_weight_1) + p0_bias; t2 = maximum(t1, 0.0f); (t2 @ p2_weight_1) + p2_bias"
    )
    products = [(stack, weight), (whole(3), weight), (stack, whole(2, 3, 4)), (stack, whole(3))]
    for one, other in products:
        report = roundonce.why(lambda a, b: a @ b, one, other)
        assert report.trace.text() == "a @ b"
        assert report.trace.results[0].shape == tuple((one @ other).shape)
        assert next(iter(report.answers.values())).data["seen"][0]["unexplained"] == 0
    for wrong in (lambda x: (2 * x).view(12) * 2, lambda x: (2 * x).view(12), lambda x: (2 * x[:, :1]).expand(4, 3).reshape(12)):
        with pytest.raises(roundonce.Untraceable, match="element by element"):
            text(wrong, M)
    # A stretched tensor that is reshaped: the last axes fit, the elements do not.
    with pytest.raises(roundonce.Untraceable, match="element by element"):
        text(lambda x: (2 * x).expand(2, 6).reshape(3, 2, 2) * 1, torch.randn(2, 1))
    assert sentence(roundonce.why(lambda x: (x * 2)[None], A)).startswith("rounds every operation as written")


def test_operators_do_not_swallow_a_refusal():
    """torch's operators make a TypeError one of Python's own."""
    for function, operation in (
        (lambda x: x % 3, "aten.remainder.Scalar"),
        (lambda x: torch.vmap(lambda row: row * 2 + 1)(x), "aten.select.int"),
    ):
        with pytest.raises(roundonce.Untraceable, match=rf"^test_torch.py:\d+: {operation}"):
            roundonce.why(function, A)


def test_parts_are_one_where_their_indices_are():
    first = torch.arange(2000) % 256
    second = first.clone()
    second[100:1900] = second[100:1900].flip(0)
    assert text(lambda x: x[first] * x[second] + x[first.clone()], A) == "t1 = x_1 * x_2; t1 + x_1"
    assert sentence(roundonce.why(lambda x: x[first] * x[second], A)).startswith("rounds every operation as written")


def test_bfloat16_is_seen():
    x = A.bfloat16()
    report = roundonce.why(lambda x: x * x, x, saw=(A.bfloat16() * A.bfloat16()))
    assert sentence(report).startswith("rounds every operation") and report.data["function"]["inputs"] == {"x": "bf16"}
    assert roundonce.torch.array_of(x).dtype == ml_dtypes.bfloat16


def test_arrays_of_ml_dtypes():
    array = A.numpy().astype(ml_dtypes.bfloat16)
    report = roundonce.why(lambda x, y: x * y, array, B.bfloat16())
    assert sentence(report).startswith("rounds every operation") and report.data["function"]["inputs"]["x"] == "bf16"


def test_gradients_are_traced_where_they_are_enabled():
    def cube(x):
        return (x * x * x).sum()

    def enabled(x):
        with torch.enable_grad():
            own = x.detach().requires_grad_()
            return torch.autograd.grad((own * own).sum(), own)[0] * 0.5

    for function in (torch.func.grad(cube), lambda x: torch.func.grad(cube)(x), enabled):
        report = roundonce.why(function, A)
        assert sentence(report).startswith("rounds every operation as written"), report.trace.text()


def model(a, b):
    grown = torch.exp(a) * 1.5
    total = grown * b
    return total + 1


def test_against_float64():
    """Each operation against itself in float64, rounded once: exactly what rounds once agrees, from the same inputs."""
    compared = roundonce.torch.compare(model, A, B, devices=("cpu", "float64"))
    a, b = A.numpy(), B.numpy()
    exact = ((np.exp(a.astype(float)) * 1.5 * b) + 1).astype(np.float32)
    own = model(A, B).numpy()
    assert compared.results[0].count == (own.view(np.uint32) != exact.view(np.uint32)).sum() > 0
    exp = torch.exp(A).numpy()
    differs = (exp.view(np.uint32) != np.exp(a.astype(float)).astype(np.float32).view(np.uint32)).sum()
    grown = (exp * np.float32(1.5)).view(np.uint32) != (np.exp(a.astype(float)) * 1.5).astype(np.float32).view(np.uint32)
    first = compared.first.place.line - model.__code__.co_firstlineno
    assert compared.first.count == (differs or grown.sum()) and first == 1
    assert all(found.name == "aten.exp.default" for found in compared.own) and compared.operations == 4
    assert "differ from the same inputs" in str(compared)
    data = json.loads(json.dumps(compared.as_dict()))
    assert data["sides"] == ["cpu", "cpu in float64"] and data["first"]["line"] == compared.first.place.line


def test_an_operation_is_explained_on_both_sides():
    """The difference within `lerp` is rounded, and exact in float64."""
    compared = roundonce.torch.compare(lambda a, b: torch.lerp(a, b, 0.3), A, B, devices=("cpu", "float64"))
    assert compared.first.name == "aten.lerp.Scalar" and [own.name for own in compared.own] == ["aten.lerp.Scalar"]
    assert compared.why.trace.text() == "self + 0.3f * (end - self)"
    assert compared.why.trace.operations[0].place == compared.first.place
    assert "\ncpu: " in str(compared) and "\ncpu in float64: " in str(compared)


def test_what_torch_compile_makes():
    compared = roundonce.torch.compare(model, A, B)
    if torch.cuda.is_available():
        assert compared.sides == ("cpu", "cuda")
        return
    assert compared.notes[0] == "there is no device cuda"
    assert compared.sides in (("cpu", "cpu by torch.compile"), ("cpu", "cpu in float64"))
    if compared.sides[1] == "cpu by torch.compile":
        compiled = torch.compile(model)(A, B).numpy().view(np.uint32)
        assert compared.equal == np.array_equal(compiled, model(A, B).numpy().view(np.uint32))
        assert "cannot be seen" in str(compared)


def test_what_is_compiled_may_round_once_where_the_library_does_not():
    """The root of MKL is not correctly rounded on every processor; a compiled one is the instruction."""

    def direction(x, y):
        length = torch.sqrt(x * x + y * y)
        return x / length

    compared = roundonce.torch.compare(direction, A, B, devices=("cpu", "compile"))
    x, y = A.numpy(), B.numpy()
    squares = x * x + y * y
    rooted = torch.sqrt(torch.from_numpy(squares)).numpy().view(np.uint32) != np.sqrt(squares).view(np.uint32)
    if compared.equal or not rooted.any():
        pytest.skip("this torch takes correctly rounded roots")
    assert [own.name for own in compared.own] == ["aten.sqrt.default"] and compared.own[0].count == rooted.sum()
    assert compared.own[0].place.line == direction.__code__.co_firstlineno + 1
    plain, compiled = compared.why.answers[compared.why.trace.results[0].name].data["seen"]
    assert compiled["groups"][0]["sentence"] == "rounds every operation as written, to nearest even"
    # The library's root is none of the evaluations: that one fits by chance is possible, but no cause may be claimed.
    assert plain["outcome"] in ("none", "consistent")


def test_without_a_compiler(monkeypatch):
    def compile(function, **options):
        raise RuntimeError("InvalidCxxCompiler: No working C++ compiler found\nmore")

    monkeypatch.setattr(torch, "compile", compile)
    monkeypatch.setattr(roundonce.torch, "is_there", lambda device: device == "cpu")
    compared = roundonce.torch.compare(model, A, B)
    assert compared.sides == ("cpu", "cpu in float64")
    assert compared.notes[1] == "torch.compile does not work here: InvalidCxxCompiler: No working C++ compiler found"
    with pytest.raises(RuntimeError):
        roundonce.torch.compare(model, A, B, devices=("cpu", "compile"))


def test_integers_beside_floats():
    index = torch.tensor([2, 0, 1])

    def function(x):
        return torch.nn.functional.embedding(index, x) * torch.ops.aten._to_copy(x[:3], dtype=torch.float32)

    compared = roundonce.torch.compare(function, M, devices=("cpu", "float64"))
    assert not compared.own and compared.operations >= 3


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu():
    compared = roundonce.torch.compare(residual, A, B, C)
    assert compared.sides == ("cpu", "cuda") and compared.equal and not compared.own and compared.operations == 2


def test_modules_and_writes_are_compared():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(inplace=True), torch.nn.Linear(4, 2))
    before = [parameter.clone() for parameter in module.parameters()]
    compared = roundonce.torch.compare(module, M, devices=("cpu", "float64"))
    assert compared.operations == 5 and all(found.name == "aten.addmm.default" for found in compared.own)
    for parameter, was in zip(module.parameters(), before):
        assert torch.equal(parameter, was) and parameter.dtype == torch.float32
    assert roundonce.torch.compare(module, M, devices=("cpu", "cpu")).equal


def test_docstrings():
    failed, tried = doctest.testmod(roundonce.torch)
    assert tried and not failed
