"""Short texts that would never end, or fill the memory, if nothing were counted; each ends in a `limit`."""

from typing import Final


def each(text: str, last: int) -> str:
    """Repeat a text for every number from 1 on."""
    return "".join(text.replace("{i}", str(number)).replace("{i-1}", str(number - 1)) for number in range(1, last + 1))


TWIN: Final = "let a0 = { v = 0; }; " + each("a{i} = { l = a{i-1}; r = a{i-1}; }; ", 40)
STREAM: Final = "let from = (n) => { head = n; tail = from(n + 1); }; "

EXPLOSIONS: Final = {
    "an object inside itself": "let x = { y = x; }; in x",
    "an array inside itself": "let x = [x]; in x",
    "an object inside itself by a name of the module": "a = { b = a; };",
    "a value that goes on for ever": f"{STREAM} in from(0)",
    "calls for ever": "let f = (x) => f(x); in f(1)",
    "calls for ever in a circle": "let f = (x) => g(x); g = (x) => f(x); in f(0)",
    "calls for ever with something left to do": "let f = (n) => 1 + f(n + 1); in f(0)",
    "calls that branch for ever": "let f = (n) => f(n + 1) + f(n + 2); in f(0)",
    "calls that branch and end": "let f = (n) => match n { 0: 1; 1: 1; _: f(n - 1) + f(n - 2); }; in f(40)",
    "calls for ever in a deep expression": f"let f = (n) => {'-' * 490}f(n + 1); in f(0)",
    "arguments for ever": "let f = (n) => f((n) + (n)); in f(1)",
    "values that wait for ever": "let f = (n, late) => match n { 0: late; _: f(n - 1, late + 1); }; g = (n) => f(900, g(n + 1)); in g(0)",
    "joining doubled": "let a0 = [0]; " + each("a{i} = a{i-1} ++ a{i-1}; ", 40) + "in a40",
    "objects doubled": f"{TWIN} in a40",
    "arrays doubled": "let a0 = 1; " + each("a{i} = [a{i-1}, a{i-1}]; ", 40) + "in a40",
    "merges doubled": f"{TWIN} in a40 // a40",
    "unions doubled": f"{TWIN} in a40 & a40",
    "refinements doubled": f"{TWIN} in a40 as a40",
    "types doubled": "let a0 = 1; " + each("a{i} = { l = a{i-1}; r = a{i-1}; }; ", 40) + "t0 = Int; "
    + each("t{i} = { l = t{i-1}; r = t{i-1}; }; ", 40) + "in a40 as t40",
    "patterns doubled": f"{TWIN} in match a40 {{ a40: 1; _: 2; }}",
    "elements doubled": "let f = (n) => match n { 0: 1; _: [f(n - 1), f(n - 1)]; }; t = (n) => match n { 0: Int; _: [...t(n - 1)]; }; "
    "in f(40) as t(40)",
    "a merge for ever": f"{STREAM} in from(0) // from(0)",
    "a union for ever": f"{STREAM} in from(0) & from(0)",
    "a refinement for ever": f"{STREAM} in from(0) as from(0)",
    "a type inside itself": "let T = { kid = T; }; in {} as T",
    "a type inside itself, narrower than itself": "let T = { kid = [...T]; }; U = { kid = [...U]; }; in T as U",
    "long texts compared again and again": f'let s = "{"x" * 200_000}"; t = "{"x" * 200_000}"; '
    "f = (n) => match n { 0: s == t; _: (s == t) && (s == t) && (s == t) && f(n - 1); }; in f(900)",
    "long texts searched again and again": f'let s = "{"x" * 200_000}"; f = (n) => match n {{ 0: 0; _: f(n - 1) '
    "+ (match s { /(x|xx)*y/: 1; _: 0; }) + (match s { /(x+)+y/: 1; _: 0; }); }; in f(900)",
    "large patterns made again and again": f"[{each('/(.{i}|p{L}|p{N}){1,40}/, ', 2_000)}]".replace("p{", r"\p{"),
    "a large pattern searched for again and again": f'let s = "{"ab" * 5_000}"; f = (n) => match n {{ 0: 0; _: f(n - 1) '
    "+ (match s { /((((a|b)?){1,10}){1,10}){1,10}c/: 1; _: 0; }); }; in f(900)",
    "many demands looked through again and again": f"let t = {each('[...{i}] & ', 500)}[...0]; "
    "f = (n) => match n { 0: 0; _: match t as t { _: f(n - 1); }; }; in f(900)",
    "many demands held against a value again and again": f"let t = {each('[...{i}] & ', 500)}[...0]; "
    "f = (n) => match n { 0: 0; _: match [] & t { _: f(n - 1); }; }; in f(900)",
    "wide objects copied again and again": "let b = {" + each("a{i} = {i}; ", 3_000) + "}; f = (n, o) => match n { 0: o; "
    "_: f(n - 1, o // { k = n; }); }; in f(900, b)",
    "names searched for through many scopes": "let top = 1; in " + each("let a{i} = top; in ", 450) + "let f = (n) => match n { 0: 0; "
    f"_: f(n - 1) + {'top + ' * 30}0; }}; g = (n) => f(900) + g(n + 1); in g(0)",
}  # fmt: skip
