"""Which columns, constraints and indexes a store in PostgreSQL is made of, and what may be said of its tables besides: nothing.

Invariant: what makes a statement do another thing than it says is seen, whatever it is called: rewrite rules, tables that inherit, row
security, tables that a crash empties, references that are not looked at. Differences are those between catalogs, so that they do not
depend on how a table was made.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, UniqueConstraint

from stateward.runtime.ports import Damaged
from stateward.store.compiling import POSTGRES_TABLES
from stateward.store.connection import Connection
from stateward.store.faults import RESTORE
from stateward.store.postgres_rules import SCHEMA
from stateward.store.shape import Part, differences, tables_in
from stateward.store.tables import METADATA

_VERSION_TABLE: Final = "store_version"
_OURS: Final = f"c.relnamespace = '{SCHEMA}'::regnamespace AND c.relkind IN ('r', 'p', 'f')"
_HELD: Final = f"""
SELECT c.relname::text, 'column', a.attname::text, upper(format_type(a.atttypid, a.atttypmod))
    || CASE WHEN l.collname IS NULL OR l.collname = 'default' THEN '' ELSE ' COLLATE "' || l.collname || '"' END
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
    || CASE WHEN a.atthasdef OR a.attidentity <> '' THEN ' DEFAULT' ELSE '' END
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
WHERE {_OURS} AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT c.relname::text, 'constraint', k.conname::text, pg_get_constraintdef(k.oid)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid WHERE {_OURS} AND k.contype IN ('c', 'f', 'p', 'u', 'x')
UNION ALL
SELECT c.relname::text, 'index', i.relname::text, pg_get_indexdef(x.indexrelid)
    || CASE WHEN x.indisvalid AND x.indisready AND i.relpersistence = 'p' THEN '' ELSE ' INVALID' END
FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
WHERE {_OURS} AND NOT EXISTS (SELECT 1 FROM pg_constraint AS k WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT c.relname::text, 'rewrite rule', r.rulename::text, '' FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class WHERE {_OURS}
UNION ALL
SELECT c.relname::text, 'child', h.inhrelid::regclass::text, ''
FROM pg_inherits AS h JOIN pg_class AS c ON c.oid = h.inhparent WHERE {_OURS}
UNION ALL
SELECT c.relname::text, 'parent', h.inhparent::regclass::text, ''
FROM pg_inherits AS h JOIN pg_class AS c ON c.oid = h.inhrelid WHERE {_OURS}
UNION ALL
SELECT c.relname::text, 'policy', y.polname::text, '' FROM pg_policy AS y JOIN pg_class AS c ON c.oid = y.polrelid WHERE {_OURS}
UNION ALL
SELECT c.relname::text, 'property', t.property, ''
FROM pg_class AS c, LATERAL (VALUES
    ('unlogged', c.relpersistence <> 'p'), ('row security', c.relrowsecurity OR c.relforcerowsecurity), ('foreign', c.relkind <> 'r'),
    ('references unchecked', EXISTS (SELECT 1 FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND g.tgisinternal AND g.tgenabled <> 'O'))
) AS t (property, holds) WHERE {_OURS} AND t.holds
"""  # noqa: S608 -- constants of this file
_VERSIONS: Final = f"SELECT count(*) FROM {SCHEMA}.{_VERSION_TABLE}"  # noqa: S608 -- constants of this file


def differences_on_postgres(connection: Connection, version: int) -> Iterator[str]:
    """Say what of a store is not as in a new one of that version."""
    held = {(table, kind, name): text for table, kind, name, text in connection.execute(_HELD).fetchall()}
    tables = {*tables_in(version), _VERSION_TABLE}
    yield from differences(held, {part: text for part, text in _expected().items() if part[0] in tables})
    (count,) = connection.execute(_VERSIONS).fetchone()
    if count != 1:
        yield f"`{_VERSION_TABLE}` has {count} rows"


def require_shape(connection: Connection, name: str, version: int) -> None:
    """Refuse a store whose tables are not those of a version, or are more than plain tables."""
    found = next(differences_on_postgres(connection, version), None)
    if found is not None:
        raise Damaged(f"{name} is damaged: {found}", RESTORE)


@cache
def _expected() -> Mapping[Part, str]:
    made: dict[Part, str] = {(_VERSION_TABLE, "column", "version"): "INTEGER NOT NULL"}
    for table in METADATA.sorted_tables:
        for column in table.columns:
            of = POSTGRES_TABLES.type_compiler_instance.process(column.type)
            made[(table.name, "column", column.name)] = of + ("" if column.nullable else " NOT NULL")
        for constraint in table.constraints:
            name = POSTGRES_TABLES.identifier_preparer.format_constraint(constraint)
            made[(table.name, "constraint", str(name))] = _constraint(constraint)
        for index in table.indexes:
            made[(table.name, "index", str(index.name))] = _index(table, index)
    return made


def _constraint(constraint: object) -> str:
    """Word a constraint as the catalog does."""
    match constraint:
        case PrimaryKeyConstraint():
            return f"PRIMARY KEY ({', '.join(constraint.columns.keys())})"
        case UniqueConstraint():
            return f"UNIQUE ({', '.join(constraint.columns.keys())})"
        case ForeignKeyConstraint():
            referred = ", ".join(each.column.name for each in constraint.elements)
            return f"FOREIGN KEY ({', '.join(constraint.column_keys)}) REFERENCES {constraint.referred_table.name}({referred})"
        case CheckConstraint():
            return f"CHECK (({constraint.sqltext}))"
    raise AssertionError(f"no table has a constraint such as {constraint!r}")


def _index(table: Table, index: Index) -> str:
    """Word an index as the catalog does."""
    unique, where = "UNIQUE " if index.unique else "", index.dialect_options["postgresql"]["where"]
    words = f"CREATE {unique}INDEX {index.name} ON {SCHEMA}.{table.name} USING btree ({', '.join(index.columns.keys())})"
    return words if where is None else f"{words} WHERE ({_condition(str(where))})"


def _condition(words: str) -> str:
    """Word a condition as the catalog does: names bare, and what is a text said to be one."""
    bare = words.replace('"', "")
    return f"{bare}::text" if bare.endswith("'") else bare
