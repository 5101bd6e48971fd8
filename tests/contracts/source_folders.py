"""What every SourceFolder does.

A test module for an adapter imports everything here and offers two fixtures: `folder`, the adapter over an empty folder, and `files`, the
same folder as whoever edits its files sees it.
"""

from collections.abc import MutableMapping

from stateward.runtime.engine.folders import SourceFolder
from stateward.runtime.session.chain import digest_of

SEEN, WRITTEN = b"seen\r\n", b"\xefritten"


def test_a_file_is_read_byte_for_byte_and_what_is_not_there_is_none(folder: SourceFolder, files: MutableMapping[str, bytes]) -> None:
    files["paper"] = SEEN
    assert (SEEN, None) == (folder.read("paper"), folder.read("letter"))


def test_a_file_is_written_where_there_was_none(folder: SourceFolder, files: MutableMapping[str, bytes]) -> None:
    assert True is folder.write_if_unchanged("paper", WRITTEN, None)
    assert {"paper": WRITTEN} == dict(files)


def test_a_file_is_written_over_what_was_seen(folder: SourceFolder, files: MutableMapping[str, bytes]) -> None:
    files["paper"] = SEEN
    assert True is folder.write_if_unchanged("paper", WRITTEN, digest_of(SEEN))
    assert {"paper": WRITTEN} == dict(files)


def test_nothing_is_written_over_what_was_not_seen(folder: SourceFolder, files: MutableMapping[str, bytes]) -> None:
    files["paper"] = b"another"
    for was in (None, digest_of(SEEN)):
        assert False is folder.write_if_unchanged("paper", WRITTEN, was)
    assert False is folder.write_if_unchanged("letter", WRITTEN, digest_of(SEEN))
    assert {"paper": b"another"} == dict(files)


def test_only_what_was_seen_is_taken_away(folder: SourceFolder, files: MutableMapping[str, bytes]) -> None:
    files["paper"] = SEEN
    files["letter"] = b"another"
    assert True is folder.remove_if_unchanged("paper", digest_of(SEEN))
    assert False is folder.remove_if_unchanged("letter", digest_of(SEEN))
    assert False is folder.remove_if_unchanged("nowhere", digest_of(SEEN))
    assert {"letter": b"another"} == dict(files)
