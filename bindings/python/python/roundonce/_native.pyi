from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

_Report = Tuple[List[List[Tuple[str, str]]], str]
_Given = Union[str, Tuple[str, Sequence[int], bytes]]
_Marked = Tuple[int, int, bytes]
_Accessed = Tuple[str, _Marked, _Marked]

__version__: str

def command(words: Sequence[str]) -> int: ...

class Error(ValueError):
    code: str
    place: Optional[Tuple[int, int]]
    rule: str
    help: str
    findings: List[Finding]

class KernelError(Error):
    kind: str
    kernel: str
    line: int
    instruction: str
    block: Optional[Tuple[int, int, int]]
    thread: Optional[Tuple[int, int, int]]

class Finding:
    """One thing that a document's rule has against a file, or that is worth knowing about it."""

    @property
    def level(self) -> str:
        """`note`, `warning` or `error`."""
    @property
    def code(self) -> str:
        """A stable code, such as PTX0020."""
    @property
    def message(self) -> str:
        """What was found, and what was expected in its place."""
    @property
    def place(self) -> Optional[Tuple[int, int]]:
        """The range of characters at fault, of the text as it was given or as the file has it, line ends and a byte order
        mark among them; None for a binary or the whole."""
    @property
    def line(self) -> int:
        """The line of its beginning, from 1."""
    @property
    def column(self) -> int:
        """The column of its beginning, from 1."""
    @property
    def word(self) -> Optional[int]:
        """Of a binary the word at fault, from 0."""
    @property
    def rule(self) -> str:
        """Document and section; empty where no document says it."""
    @property
    def help(self) -> str:
        """What to do about it; may be empty."""
    @property
    def fix(self) -> Optional[Tuple[int, int, str]]:
        """A safe replacement: the range of characters and what stands there afterwards."""
    @property
    def edits(self) -> List[Tuple[int, int, str]]:
        """What settles a choice that the module leaves open, all of them together, as `fix`."""
    @property
    def witness(self) -> Optional[Tuple[List[Tuple[str, str, str]], List[Tuple[str, str, str]]]]:
        """What shows that such a choice matters: inputs as (name, bits, value), two results as (choice, bits, value)."""

class Instruction:
    spelling: str
    syntax: str
    lanes: int
    format: str
    operand_formats: List[str]
    def check_arity(self, found: int) -> None: ...
    def read(self, index: int, text: str) -> List[int]: ...
    def convert(self, index: int, number: float) -> int: ...
    def eval_into(self, operands: Sequence[Union[None, np.ndarray, List[int]]], out: np.ndarray) -> None: ...

class Integer:
    spelling: str
    syntax: str
    operand_types: List[Tuple[int, bool]]
    result_type: Tuple[int, bool]
    def check_arity(self, found: int) -> None: ...
    def read(self, index: int, text: str) -> int: ...
    def eval(self, operands: Sequence[np.ndarray]) -> Tuple[np.ndarray, Optional[np.ndarray]]: ...
    def explain(self, operands: Sequence[int]) -> _Report: ...

class Conversion:
    spelling: str
    syntax: str
    operand_types: List[Tuple[int, Optional[str], int]]
    result_bits: int
    def check_arity(self, found: int) -> None: ...
    def read(self, index: int, text: str) -> int: ...
    def eval_into(self, operands: Sequence[Union[np.ndarray, List[int]]], out: np.ndarray) -> None: ...
    def explain(self, operands: Sequence[int]) -> _Report: ...

class Sweep:
    def __init__(self, folder: str) -> None: ...
    @staticmethod
    def create(
        folder: str, instruction: str, against: Optional[str], spaces: Sequence[str], shard: int
    ) -> Sweep: ...
    def missing(self) -> List[int]: ...
    def run(self, shard: int) -> None: ...
    def finish(self) -> str: ...

def allowed(
    instruction: Instruction, operands: Sequence[Sequence[int]]
) -> Tuple[str, List[List[Tuple[int, int, str]]]]: ...
def bits(text: str) -> _Report: ...
def check(language: str, content: Union[str, bytes], determinacy: bool, target_env: str) -> List[Finding]: ...
def check_parts(name: str, kernel: str, parts: Sequence[Tuple[Tuple[int, int], Sequence[_Accessed]]]) -> None: ...
def copy_part(into: np.ndarray, start: int, end: int, mask: bytes, data: np.ndarray) -> None: ...
def diff(
    texts: Sequence[str],
    ty: str,
    data: Dict[str, _Given],
    tries: Optional[int],
    nan_bits: bool,
    target: Optional[str],
    version: Optional[str],
    profile: Optional[str],
    solve: Callable[[str], Optional[str]],
) -> _Report: ...
def convert(
    values: np.ndarray,
    from_format: str,
    to_format: str,
    rounding: str,
    relu: bool,
    random: Optional[np.ndarray] = None,
    profile: Optional[str] = None,
) -> np.ndarray: ...
def matrix_types(
    spelling: str, arch: Optional[str] = None
) -> Tuple[List[str], Optional[Tuple[str, int]], str]: ...
def multiply(
    spelling: str,
    shape: Tuple[int, int, int],
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    scales: Optional[Sequence[np.ndarray]] = None,
    arch: Optional[str] = None,
    profile: Optional[str] = None,
) -> np.ndarray: ...
def diff_arrays(first: _Given, second: _Given) -> _Report: ...
def explain(instruction: Instruction, operands: Sequence[Sequence[int]]) -> _Report: ...
def footprints(asked: Dict[str, Any], parts: Sequence[Tuple[int, int]]) -> List[Dict[str, Tuple[int, int]]]: ...
def forms() -> List[dict]: ...
def generate(
    instruction: str, count: int, seed: int, target: Optional[str], version: Optional[str]
) -> Tuple[List[Tuple[str, np.ndarray]], int, np.ndarray]: ...
def instruction(
    spelling: str,
    target: Optional[str] = None,
    version: Optional[str] = None,
    profile: Optional[str] = None,
) -> Union[Instruction, Integer, Conversion]: ...
def language_of(text: str) -> str: ...
def parts(asked: Dict[str, Any], count: int) -> List[Tuple[int, int]]: ...
def plot(pairs: Sequence[Tuple[str, _Given, _Given]]) -> str: ...
def plot_shares(title: str, axes: Tuple[str, str, str], cells: Sequence[Tuple[Sequence[int], int, int]]) -> str: ...
def run(asked: Dict[str, Any]) -> Dict[str, Any]: ...
def run_part(asked: Dict[str, Any], first: int, end: int) -> Dict[str, Any]: ...
def run_sass(asked: Dict[str, Any]) -> Dict[str, Any]: ...
def together(reports: Sequence[str]) -> Tuple[List[str], str]: ...
def ulps(format: str, one: int, other: int) -> Optional[int]: ...
def verify(
    what: Union[bytes, str],
    name: str,
    rows_before: int,
    instruction: Optional[str],
    target: Optional[str] = None,
    version: Optional[str] = None,
    profile: Optional[str] = None,
) -> Tuple[str, List[Tuple[int, str]], List[str]]: ...
def unused_names(expression: str, names: Sequence[str]) -> List[str]: ...
def why(expression: str, names: dict[str, str], saw: Sequence[str], how: Dict[str, Any]) -> _Report: ...
def why_kernel(
    asked: Dict[str, Any],
    saw: Sequence[Sequence[Tuple[str, Optional[str], int, Sequence[int], bytes]]],
    allow: str,
    toolchain: Optional[str],
) -> _Report: ...
def why_arrays(
    expression: str, names: dict[str, _Given], saw: Sequence[Tuple[str, _Given]], how: Dict[str, Any]
) -> _Report: ...
