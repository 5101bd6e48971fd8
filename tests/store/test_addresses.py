"""Where a store lies, as people write it: what is taken for a URL, what is refused, and that no password is ever told."""

from pathlib import Path

import pytest

from stateward.store.address import read_place
from tests.cli.program import Place, place

LEAKED = "secretpw"
WRONG = (
    f"postgresql://u:{LEAKED}@[::1/x",
    f"postgresql://u:sec@{LEAKED}@localhost/x",
    f"postgresql://u:sec/{LEAKED}@localhost/x",
    f"postgresql://u:sec#{LEAKED}@localhost/x",
    f"postgresql://u:sec?{LEAKED}@localhost/x",
    f"postgresql://u:p%40{LEAKED}%00@localhost/x",
    f"postgresql://u:{LEAKED}@localhost:port/x",
    f"postgresql+psycopg://u:{LEAKED}@localhost/x",
    f"mysql://u:{LEAKED}@localhost/x",
)


def test_files_and_urls_are_told_apart_whatever_the_case_of_the_scheme() -> None:
    assert Path("a/store.db") == read_place("a/store.db")
    assert "postgresql://u:p%40w@h:5432/x" == read_place("PostgreSQL://u:p%40w@h:5432/x")
    assert "postgres:///x?host=/run/pg" == read_place("postgres:///x?host=/run/pg")


@pytest.mark.parametrize("url", [*WRONG, f"postgresql://localhost/x?sslpassword={LEAKED}&foo=bar"])
def test_what_is_no_store_is_refused_in_a_line_that_tells_no_password(tmp_path: Path, url: str) -> None:
    here: Place = place(tmp_path)
    named = here.call("start", "builtin:single-step", "--store", url, STATEWARD_STORE="")
    set_by = here.call("start", "builtin:single-step", STATEWARD_STORE=url)
    for ended in (named, set_by):
        assert ended.status in {2, 3}
        assert ended.err.startswith("error: ")
        assert LEAKED not in ended.out + ended.err
    assert [] == [each for each in here.work.iterdir() if each.name != ".stateward"]
