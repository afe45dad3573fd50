"""What `roundonce.torch.compare` promises of runs: one state, one sequence of random numbers, and results of any kind.

`test.sh --torch` installs what this wants. Exact fractions are the judge of rounding.
"""

import re

import judge
import numpy as np
import pytest
import roundonce

torch = pytest.importorskip("torch", reason="torch is not installed, which is large: test.sh --torch")
import roundonce._runs as runs  # noqa: E402
import roundonce.torch  # noqa: E402

RANDOM = np.random.default_rng(5)
X = torch.from_numpy(RANDOM.standard_normal(256).astype(np.float32))
FLOAT64 = ("cpu", "float64")
COMPILE = ("cpu", "compile")

compare = roundonce.torch.compare


def compiled(function, *inputs):
    """A comparison with torch.compile, where there is a compiler."""
    try:
        return compare(function, *inputs, devices=COMPILE)
    except Exception as error:
        if "compiler" in str(error).lower():
            pytest.skip("there is no C++ compiler")
        raise


def test_floats_of_8_bits():
    compared = compare(lambda x: x.to(torch.float8_e4m3fn).float(), X, devices=FLOAT64)
    assert compared.equal and not compared.own and compared.operations == 2
    narrow = compare(lambda x: x.to(torch.float8_e5m2), X, devices=("cpu", "cpu"))
    assert narrow.equal and roundonce.torch.array_of(X.to(torch.float8_e5m2)).dtype.name == "float8_e5m2"


class Counts(torch.nn.Module):
    """Writes into a tensor, gives itself a new one, and counts."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(256))
        self.register_buffer("scale", torch.zeros(()))
        self.count = 0
        self.seen = []

    def forward(self, x):
        self.mean.mul_(0.5).add_(x)
        self.scale = self.scale + 1
        self.count += 1
        self.seen.append(x)
        return self.mean * self.scale

    def is_new(self):
        return not self.mean.any() and not self.scale and not self.count and not self.seen


COUNTS = Counts()


def held(module):
    """A module as the function, as what one holds or names, and as a method."""
    return [module, lambda x: module(x), lambda x: COUNTS(x), module.forward]


def explained(report):
    return all(answer.data["seen"][0]["unexplained"] == 0 for answer in report.answers.values())


@pytest.mark.parametrize("way", range(4))
def test_every_run_starts_from_the_same_state(way):
    module = Counts()
    function = held(module)[way]
    for compared in (compare(function, X, devices=("cpu", "cpu")), compare(function, X, devices=FLOAT64)):
        assert compared.equal and module.is_new() and COUNTS.is_new()
    if way < 2:
        assert compiled(function, X).equal and module.is_new()


def test_why_and_trace_leave_a_module_as_it_was():
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.zeros(()))
            self.count = 0

        def forward(self, x):
            self.n += 1
            self.count += 1
            return x * self.n

    module = Scale()
    assert roundonce.trace(module, X).text() == "t1 = n + 1.0f; x * t1" and module.n == module.count == 0
    for function in (module, lambda x: module(x)):
        assert explained(roundonce.why(function, X)) and module.n == module.count == 0
    norm = torch.nn.BatchNorm1d(4)
    with pytest.raises(roundonce.Untraceable, match="native_batch_norm"):
        roundonce.trace(norm, X.reshape(64, 4))
    assert norm.num_batches_tracked == 0 and not norm.running_mean.any()
    twice = compare(lambda x: norm(norm(x)), X.reshape(64, 4), devices=("cpu", "cpu"))
    assert twice.equal and not twice.own and norm.num_batches_tracked == 0


def test_tensors_of_a_closure_are_left_as_they_were():
    total, generator = torch.zeros(256), torch.Generator().manual_seed(3)
    state = generator.get_state()

    def function(x):
        total.add_(x * 3)
        return total + torch.rand(256, generator=generator)

    assert compare(function, X, devices=FLOAT64).operations == 4
    assert not total.any() and torch.equal(generator.get_state(), state)


@pytest.mark.parametrize("devices", [("cpu", "cpu"), FLOAT64, COMPILE])
def test_random_numbers_are_the_same_ones(devices):
    def function(x):
        return torch.maximum(x, torch.rand(256)), torch.maximum(x, torch.rand_like(x)), torch.nn.functional.dropout(x, 0.5)

    torch.manual_seed(1)
    want = torch.rand(1)
    torch.manual_seed(1)
    compared = compiled(function, X) if devices == COMPILE else compare(function, X, devices=devices)
    assert compared.equal and compared.first is None and not compared.own
    assert torch.equal(torch.rand(1), want)


def test_weights_of_a_closure():
    weights = torch.from_numpy(RANDOM.standard_normal((256, 3)).astype(np.float32))
    compared = compare(lambda x: x @ weights, X, devices=FLOAT64)
    assert not compared.uncompared and compared.first is not None and weights.dtype == torch.float32

    def made(x):
        sums = torch.zeros(256)
        sums.add_(x)
        sums[:2] = x[:2]
        return sums * torch.ones(256)

    assert compare(made, X, devices=FLOAT64).equal


def test_gradients_within_the_function():
    weights = torch.ones(256, requires_grad=True)

    def gradients(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x * weights * 0.5).sum(), (x, weights))

    for devices in (FLOAT64, ("cpu", "cpu")):
        assert compare(gradients, X, devices=devices).equal and weights.grad is None
    of_input = compare(lambda x: torch.autograd.grad((x * x).sum(), x), X.clone().requires_grad_(), devices=FLOAT64)
    assert of_input.equal


def test_gradients_of_what_it_holds_are_left_as_they_were():
    module = torch.nn.Linear(256, 2)
    module.bias.grad = torch.ones(2)

    def gradients(x):
        module(x).sum().backward()
        return [parameter.grad for parameter in module.parameters()]

    for devices in (("cpu", "cpu"), FLOAT64):
        assert compare(gradients, X, devices=devices).equal
        assert module.weight.grad is None and torch.equal(module.bias.grad, torch.ones(2))


def test_a_lazy_module_is_made_once():
    module = torch.nn.LazyLinear(3)
    assert compare(lambda x: module(x), X[None], devices=("cpu", "cpu")).equal and module(X[None]).shape == (1, 3)


def test_a_tensor_is_kept_once():
    weights = torch.from_numpy(RANDOM.standard_normal((256, 256)).astype(np.float32)) / 16

    def function(x, w):
        for _ in range(50):
            x = torch.tanh(x @ w)
        return x

    _, calls = runs.recorded(function, runs.Device("cpu"), [X[None], weights], {})
    kept = [tensor for call in calls for tensor in [*runs.tensors_of(call.given), *call.gave]]
    memories = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in kept}
    assert len(calls) == 100 and sum(memories.values()) < 2 * weights.nbytes


def test_what_is_kept_stays_as_it_was():
    def function(x):
        view = x[:3]
        x.add_(1)
        view.mul_(2)
        return x

    _, calls = runs.recorded(function, runs.Device("cpu"), [X.clone()], {})
    assert torch.equal(calls[0].gave[0], X[:3]) and torch.equal(calls[1].given[0][0], X)
    assert torch.equal(calls[1].gave[0], X + 1) and torch.equal(calls[2].given[0][0], X[:3] + 1)


def test_numbers_and_arrays_are_results():
    exp = torch.exp(X)
    exact = np.exp(X.double().numpy()).astype(np.float32)
    count = int((exp.numpy().view(np.uint32) != exact.view(np.uint32)).sum())
    arrays = compare(lambda x: torch.exp(x).numpy(), X, devices=FLOAT64)
    assert (arrays.results[0].count if arrays.results else 0) == count
    numbers = compare(lambda x: torch.exp(x).tolist(), X, devices=FLOAT64)
    assert len(numbers.results) == count and numbers.equal == (count == 0)
    assert all(found.bits[0].startswith("0x") and len(found.bits[0]) == 10 for found in numbers.results)
    assert compare(lambda x: (x * 0.25).sum().item(), torch.ones(64), devices=FLOAT64).equal
    assert not compare(lambda x: ((x + 2.0**-30) - 1).max().item(), torch.ones(64), devices=FLOAT64).equal


@pytest.mark.parametrize(
    "function, sentence",
    [
        (lambda x: [x * 2] * (2 if x.dtype == torch.float32 else 1), "<lambda> returns 2 values on one side, 1 on the other"),
        (lambda x: (x, object()), r"<lambda>\[1\] is of type object: expected tensors, arrays and numbers"),
        (lambda x: x[(x + 2.0**-30) - x != 0], r"one side gives float32 of shape .*, the other float32 of \(256,\)"),
        (lambda x: x.view(torch.int32), r"one side gives int32 of shape \(256,\), the other int32 of \(512,\)"),
        (lambda x: x.view(torch.int32) + torch.zeros(256, dtype=torch.int32), "it does not run on the other side: The size"),
    ],
)
def test_results_that_cannot_be_compared(function, sentence):
    compared = compare(function, X + 1000 * X.sign(), devices=FLOAT64)
    assert not compared.equal and len(compared.uncompared) == 1
    assert "same bits" not in str(compared) and compared.uncompared[0] in str(compared)
    assert compared.as_dict()["uncompared"] == compared.uncompared
    assert re.search(sentence, compared.uncompared[0])


def test_nothing_is_no_result():
    with pytest.raises(ValueError, match="returns nothing"):
        compare(lambda x: None, X, devices=FLOAT64)
    assert compare(lambda x: (x, None, "text"), X, devices=FLOAT64).equal


def test_a_number_has_the_type_that_torch_gives_it():
    assert np.array_equal(
        judge.fused(X, np.full(256, 0.1, np.float32), np.full(256, -0.0, np.float32)), (X * 0.1).numpy().view(np.uint32)
    )
    compared = compare(lambda x: x * 0.1, X, devices=FLOAT64)
    assert compared.equal and not compared.own


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 0.3,
        lambda x: 0.3 - x,
        lambda x: x * 0.3,
        lambda x: x / 0.7,
        lambda x: x + 16777217,
        lambda x: x * torch.tensor(0.3),
        lambda x: x + torch.tensor(0.3, dtype=torch.float64),
        lambda x: x.clone().mul_(0.3).add_(0.1),
        lambda x: (x < 0.3) * x,
        lambda x: torch.nn.functional.leaky_relu(x, 0.3),
    ],
)
def test_numbers_beside_any_type(dtype, function):
    x = X.to(dtype)
    x[:9] = 0.3
    if dtype == torch.float16 and function(torch.ones(1)) > 60000:
        pytest.skip("the number is too large for float16")
    compared = compare(function, x, devices=FLOAT64)
    assert not compared.own and compared.operations


def test_what_float64_gives_is_rounded_once():
    """To bfloat16 by way of float32 this would be 1."""
    own = torch.ones(1, dtype=torch.bfloat16)
    other = torch.tensor([1 + 2.0**-8 + 2.0**-40], dtype=torch.float64)
    assert float(runs.in_type_of(own, other)[0]) == 1 + 2.0**-7
    for value in (np.nan, np.inf, 1e300, -1.5, 0.0, 2.0**-140, 1 + 2.0**-8):
        got = runs.in_type_of(own, torch.tensor([value], dtype=torch.float64)).astype(np.float32)
        assert np.array_equal(got, torch.tensor([value]).bfloat16().float().numpy(), equal_nan=True)


@pytest.mark.parametrize(
    "devices, error, sentence",
    [
        (("cpu", "gpu"), ValueError, "there is no kind of device 'gpu'"),
        (("compile", "cpu"), ValueError, "'compile' is a way to run what the first device runs"),
        (("float64", "cpu"), ValueError, "'float64' is a way to run what the first device runs"),
        ("cpu", TypeError, "expected the names of two: found 'cpu'"),
        (("cpu",), TypeError, "expected the names of two"),
        (("cpu", "meta"), ValueError, "tensors of the device meta have no values"),
        (("cuda:99", "float64"), ValueError, "there is no device cuda:99 here"),
        (("cuda:99", "cpu"), ValueError, "there is no device cuda:99 here"),
        (("cpu", "cuda:99"), ValueError, "there is no device cuda:99 here"),
    ],
)
def test_devices_that_there_are_not(devices, error, sentence):
    with pytest.raises(error, match=sentence):
        compare(lambda x: x * 2, X, devices=devices)


def test_a_default_that_is_given_is_asked_for(monkeypatch):
    monkeypatch.setattr(roundonce.torch, "is_there", lambda name: name == "cpu")
    for devices in (("cpu", "cuda"), ["cpu", "cuda"]):
        with pytest.raises(ValueError, match="devices: there is no device cuda here"):
            compare(lambda x: x * 2, X, devices=devices)
    compared = compare(lambda x: x * 2, X)
    assert compared.equal and compared.notes[0] == "there is no device cuda"
