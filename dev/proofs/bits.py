"""Integers of a fixed width: plain ones to run the model, bit-vector terms to prove it."""


class Number:
    """A plain unsigned number of `width` bits; comparisons give Python's booleans."""

    __slots__ = ("value", "width")

    def __init__(self, value, width):
        self.value, self.width = value & ((1 << width) - 1), width

    def signed(self):
        return self.value - (1 << self.width) if self.value >> (self.width - 1) else self.value

    def of(self, value):
        return Number(value, self.width)

    def __add__(self, other):
        return self.of(self.value + other.value)

    def __sub__(self, other):
        return self.of(self.value - other.value)

    def __mul__(self, other):
        return self.of(self.value * other.value)

    def __and__(self, other):
        return self.of(self.value & other.value)

    def __or__(self, other):
        return self.of(self.value | other.value)

    def __lshift__(self, other):
        return self.of(self.value << other.value if other.value < self.width else 0)

    def __rshift__(self, other):
        return self.of(self.value >> other.value if other.value < self.width else 0)

    def eq(self, other):
        return self.value == other.value

    def ne(self, other):
        return self.value != other.value

    def ult(self, other):
        return self.value < other.value

    def slt(self, other):
        return self.signed() < other.signed()

    def bit(self, place):
        return bool(self.value >> place & 1)

    def resize(self, width):
        return Number(self.value, width)

    def sign_resize(self, width):
        return Number(self.signed(), width)


class Plain:
    true, false = True, False

    def int(self, value, width):
        return Number(value, width)

    def ite(self, condition, yes, no):
        return yes if condition else no

    choose = ite

    def both(self, x, y):
        return x and y

    def either(self, x, y):
        return x or y

    def no(self, x):
        return not x

    def same(self, x, y):
        return x == y

    def leading_zeros(self, x):
        return Number(x.width - x.value.bit_length(), 32)


class Term:
    """A bit-vector term; comparisons give Boolean terms."""

    __slots__ = ("tools", "term", "width")

    def __init__(self, tools, term, width):
        self.tools, self.term, self.width = tools, term, width

    def _two(self, kind, other):
        return Term(self.tools, self.tools.make(kind, [self.term, other.term]), self.width)

    def _ask(self, kind, other):
        return self.tools.make(kind, [self.term, other.term])

    def __add__(self, other):
        return self._two("BV_ADD", other)

    def __sub__(self, other):
        return self._two("BV_SUB", other)

    def __mul__(self, other):
        return self._two("BV_MUL", other)

    def __and__(self, other):
        return self._two("BV_AND", other)

    def __or__(self, other):
        return self._two("BV_OR", other)

    def __lshift__(self, other):
        return self._two("BV_SHL", other)

    def __rshift__(self, other):
        return self._two("BV_SHR", other)

    def eq(self, other):
        return self._ask("EQUAL", other)

    def ne(self, other):
        return self.tools.no(self.eq(other))

    def ult(self, other):
        return self._ask("BV_ULT", other)

    def slt(self, other):
        return self._ask("BV_SLT", other)

    def bit(self, place):
        one = self.tools.make("BV_EXTRACT", [self.term], [place, place])
        return self.tools.make("EQUAL", [one, self.tools.int(1, 1).term])

    def resize(self, width):
        if width < self.width:
            return Term(self.tools, self.tools.make("BV_EXTRACT", [self.term], [width - 1, 0]), width)
        if width > self.width:
            extended = self.tools.make("BV_ZERO_EXTEND", [self.term], [width - self.width])
            return Term(self.tools, extended, width)
        return self

    def sign_resize(self, width):
        extended = self.tools.make("BV_SIGN_EXTEND", [self.term], [width - self.width])
        return Term(self.tools, extended, width)


class Symbolic:
    """Terms of one solver."""

    def __init__(self):
        import bitwuzla

        self.bitwuzla = bitwuzla
        self.manager = bitwuzla.TermManager()
        self.true, self.false = self.manager.mk_true(), self.manager.mk_false()

    def make(self, kind, terms, indices=()):
        return self.manager.mk_term(getattr(self.bitwuzla.Kind, kind), terms, list(indices))

    def int(self, value, width):
        sort = self.manager.mk_bv_sort(width)
        return Term(self, self.manager.mk_bv_value(sort, value & ((1 << width) - 1)), width)

    def variable(self, name, width):
        return Term(self, self.manager.mk_const(self.manager.mk_bv_sort(width), name), width)

    def boolean(self, name):
        return self.manager.mk_const(self.manager.mk_bool_sort(), name)

    def ite(self, condition, yes, no):
        return Term(self, self.make("ITE", [condition, yes.term, no.term]), yes.width)

    def choose(self, condition, yes, no):
        return self.make("ITE", [condition, yes, no])

    def both(self, x, y):
        return self.make("AND", [x, y])

    def either(self, x, y):
        return self.make("OR", [x, y])

    def no(self, x):
        return self.make("NOT", [x])

    def same(self, x, y):
        return self.make("EQUAL", [x, y])

    def leading_zeros(self, x):
        """By halves: as many steps as the width has bits in its count."""
        count, width = self.int(0, 32), x.width
        if width & (width - 1):
            full = 1 << width.bit_length()
            return self.leading_zeros(x.resize(full)) - self.int(full - width, 32)
        none, step = x.eq(self.int(0, width)), width // 2
        while step:
            high = (x >> self.int(width - step, width)).eq(self.int(0, width))
            x = self.ite(high, x << self.int(step, width), x)
            count = self.ite(high, count + self.int(step, 32), count)
            step //= 2
        return self.ite(none, self.int(width, 32), count)

    def proved(self, assumptions, claim, limit):
        """Whether the claim follows: True, the solver that holds a counterexample, or None where the time ran out.

        Assumptions that nothing fulfils would prove anything: they must be satisfiable."""
        options = self.bitwuzla.Options()
        options.set(self.bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(self.bitwuzla.Option.TIME_LIMIT_PER, limit * 1000)
        solver = self.bitwuzla.Bitwuzla(self.manager, options)
        for assumption in assumptions:
            solver.assert_formula(assumption)
        if solver.check_sat() != self.bitwuzla.Result.SAT:
            return None
        solver.assert_formula(self.no(claim))
        result = solver.check_sat()
        if result == self.bitwuzla.Result.UNSAT:
            return True
        return None if result == self.bitwuzla.Result.UNKNOWN else solver
