"""Write the parser's tables anew: `python -m stateward.compiler.syntax`, after every change of the grammar."""

from pathlib import Path

from stateward.compiler.syntax.parser import GRAMMAR_FILE, TABLES_FILE, build_tables
from stateward.compiler.syntax.tables import kept_form

if __name__ == "__main__":
    folder = Path(__file__).parent
    grammar = (folder / GRAMMAR_FILE).read_text(encoding="utf-8")
    (folder / TABLES_FILE).write_text(kept_form(build_tables(grammar)), encoding="utf-8")
