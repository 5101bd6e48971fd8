"""Strategies for programs that mean something: data, objects over one skeleton, constraints without defaults."""

from typing import TypeAlias

from hypothesis import strategies as st

Tree: TypeAlias = "dict[str, Tree] | int"
"""An object of objects and numbers."""

KEYS = ("a", "b", "c", "d")

trees: st.SearchStrategy[Tree] = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=10
)
objects: st.SearchStrategy[dict[str, Tree]] = st.dictionaries(st.sampled_from(KEYS), trees, max_size=4)


def written(tree: Tree) -> str:
    """Write a tree."""
    if isinstance(tree, int):
        return str(tree)
    return "{" + "".join(f"{name} = {written(below)}; " for name, below in tree.items()) + "}"


@st.composite
def over_one_skeleton(draw: st.DrawFn) -> tuple[dict[str, Tree], dict[str, Tree], dict[str, Tree]]:
    """Give three objects in which every path that two of them have holds an object in both or in neither."""
    skeleton = draw(objects)
    return draw(_part_of(skeleton)), draw(_part_of(skeleton)), draw(_part_of(skeleton))


@st.composite
def _part_of(draw: st.DrawFn, skeleton: dict[str, Tree]) -> dict[str, Tree]:
    names = draw(st.permutations(list(skeleton)))
    kept = draw(st.integers(0, len(names)))
    part: dict[str, Tree] = {}
    for name in names[:kept]:
        below = skeleton[name]
        part[name] = draw(_part_of(below)) if isinstance(below, dict) else draw(st.integers(0, 3))
    return part


_atoms = st.one_of(
    st.sampled_from(["Int", "Float", "String", "Bool", "Unknown", "/^a/", "/b$/", "Even"]),
    st.tuples(st.sampled_from(["<", "<=", ">", ">="]), st.sampled_from(["0", "1", "2", "3", "1.5", "-1", "2.0"])).map(" ".join),
)
constraints: st.SearchStrategy[str] = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        inner.map(lambda text: f"[...{text}]"),
        inner.map(lambda text: f"{{...{text}}}"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} & {pair[1]})"),
        st.dictionaries(st.sampled_from(KEYS), inner, min_size=1, max_size=2).map(
            lambda fields: "{" + "".join(f"{name} = {text}; " for name, text in fields.items()) + "}"
        ),
    ),
    max_leaves=5,
)
"""Constraints without defaults, some of which no value meets."""

values = st.sampled_from(["0", "1", "2.5", '"a"', '"ab"', "true", "[]", "[1]", '["a", 2]', "{}", "{ a = 1; }", '{ a = "ab"; b = 2; }'])

_uses: st.SearchStrategy[str] = st.recursive(
    st.sampled_from([*KEYS, *(f"f({name})" for name in KEYS), "1", "Int", "[]", 'import "main.dcdl"']),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        inner.map(lambda text: f"{{ a = {text}; }}"),
        st.tuples(inner, st.sampled_from(["&", "//", "as", "default", "+", "=="]), inner).map(lambda row: f"({' '.join(row)})"),
    ),
    max_leaves=6,
)
circles: st.SearchStrategy[str] = st.tuples(*[_uses] * 5).map(
    lambda row: "".join(f"{name} = {text};\n" for name, text in zip((*KEYS, "f"), (*row[:4], f"(x) => [x, {row[4]}]"), strict=True))
)
"""Modules whose fields use each other in circles, by a function too, so that many of them are endless."""
