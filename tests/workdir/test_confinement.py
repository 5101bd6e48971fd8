"""Nothing leads out of the root: not a link, not a name, not a swap at the worst moment."""

import ctypes
import errno
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stateward.runtime.workdir import beneath
from stateward.runtime.workdir.beneath import FILE_FLAGS, FOLDER_FLAGS, Opener, best_opener, kernel_open, portable_open
from stateward.runtime.workdir.limits import DEPTH_MAX, LINKS_MAX, PATH_BYTES_MAX
from stateward.runtime.workdir.shown import EntryKind, Globbed, Grepped, Listed, RefusalCode, Refused, Shown
from stateward.runtime.workdir.view import WorkdirView
from tests.workdir.trees import ELSEWHERE, Tree, open_handles

OUT: dict[str, Callable[[Tree], str]] = {
    "a path upward": lambda _: "../outside/secret.txt",
    "a path down and upward": lambda place: place.write("a/b.txt").parent.name + "/../../outside/secret.txt",
    "a whole path": lambda place: str(place.outside / "secret.txt"),
    "a whole path to what is inside": lambda place: str(place.write("a.txt")),
    "a link to a file": lambda place: place.link("link", place.outside / "secret.txt").name,
    "a link upward": lambda place: place.link("link", "../outside/secret.txt").name,
    "a link to a folder": lambda place: place.link("link", place.outside).name + "/secret.txt",
    "a link to a folder upward": lambda place: place.link("link", "../outside").name + "/folder/secret.txt",
    "a chain of links": lambda place: place.link("second", place.link("first", "../outside/secret.txt").name).name,
    "a link through a link": lambda place: place.link("second", place.link("first", "../outside").name + "/secret.txt").name,
    "a link below": lambda place: place.link("a/b/link", "../../../outside/secret.txt").relative_to(place.root).as_posix(),
    "a link to the root's own path": lambda place: place.link("link", place.write("a.txt")).name,
    "a magic link of the system": lambda place: place.link("link", "/proc/self/cwd").name + "/x",
    "the repository": lambda place: place.write(".git/config").relative_to(place.root).as_posix(),
    "a nested repository": lambda place: place.write("sub/.git/config").relative_to(place.root).as_posix(),
    "the repository in other letters": lambda place: place.write(".GIT/config").relative_to(place.root).as_posix(),
    "the file of a linked work tree": lambda place: place.write(".git").name,
    "our own folder": lambda place: place.write(".stateward/workspace").relative_to(place.root).as_posix(),
    "a link into the repository": lambda place: place.link("link", ".git/config").name,
    "a link into our own folder": lambda place: place.link("link", ".stateward").name + "/workspace",
}


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refused), answer
    return answer.code


@pytest.mark.parametrize("way", sorted(OUT))
def test_no_path_leads_out(place: Tree, view: WorkdirView, way: str) -> None:
    path = OUT[way](place)
    assert RefusalCode.OUTSIDE == code(view.read(path))


def test_a_link_that_stays_inside_works(place: Tree, view: WorkdirView) -> None:
    place.write("a/b.txt", "inside\n")
    place.link("link", "a/b.txt")
    place.link("a/back", "../link")
    place.link("folder", "a/../a")
    assert [("inside",)] * 3 == [
        answer.lines for path in ("link", "a/back", "folder/b.txt") if isinstance(answer := view.read(path), Shown)
    ]


def test_links_that_go_round_end(place: Tree, view: WorkdirView) -> None:
    place.link("one", "two")
    place.link("two", "one")
    assert RefusalCode.BAD_PATH == code(view.read("one"))


def test_the_number_of_links_has_its_exact_limit(place: Tree, view: WorkdirView) -> None:
    place.write("0")
    for number in range(1, LINKS_MAX + 2):
        place.link(str(number), str(number - 1))
    assert isinstance(view.read(str(LINKS_MAX)), Shown)
    assert RefusalCode.BAD_PATH == code(view.read(str(LINKS_MAX + 1)))


def test_the_depth_has_its_exact_limit(place: Tree, view: WorkdirView) -> None:
    deep = "/".join("d" * (DEPTH_MAX + 1))
    place.write(f"{deep}/below")
    place.write(f"{deep[:-2]}/a.txt")
    assert isinstance(view.read(f"{deep[:-2]}/a.txt"), Shown)
    assert RefusalCode.BAD_PATH == code(view.read(f"{deep}/below"))


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * (PATH_BYTES_MAX + 1), "y" * 300])
def test_what_can_be_no_path_is_refused(view: WorkdirView, path: str) -> None:
    assert RefusalCode.BAD_PATH == code(view.read(path))


def test_another_file_system_is_outside(opener: Opener) -> None:
    with WorkdirView(Path("/"), opener=opener) as view:
        assert RefusalCode.OUTSIDE == code(view.read("proc/version"))
        assert RefusalCode.OUTSIDE == code(view.glob("*", under="proc"))


def test_what_is_no_regular_file_is_refused_without_waiting(place: Tree, view: WorkdirView) -> None:
    os.mkfifo(place.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fsencode(place.root / "socket"))
        place.link("link", "pipe")
        assert [RefusalCode.SPECIAL] * 3 == [code(view.read(name)) for name in ("pipe", "socket", "link")]
        expected = [Listed("link", EntryKind.LINK), Listed("pipe", EntryKind.SPECIAL), Listed("socket", EntryKind.SPECIAL)]
        found = view.glob("*")
        assert isinstance(found, Globbed)
        assert expected == list(found.entries)
        assert Grepped(()) == view.grep(".")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser makes devices")
def test_a_device_is_refused(place: Tree, view: WorkdirView) -> None:
    os.mknod(place.root / "zero", 0o20666, os.makedev(1, 5))
    assert RefusalCode.SPECIAL == code(view.read("zero"))
    assert Grepped(()) == view.grep(".")


def swapping(opener: Opener, name: str, swap: Callable[[], None]) -> Opener:
    """Give an opener at whose first opening of a name somebody is quicker."""
    left = [swap]

    def opening(folder: int, asked: str, flags: int) -> int:
        if asked == name and left:
            left.pop()()
        return opener(folder, asked, flags)

    return opening


SWAPPED: dict[str, Callable[[Tree], None]] = {
    "a link out": lambda place: (place.root / "a").symlink_to(place.outside / "folder"),
    "a link inside": lambda place: (place.root / "a").symlink_to("b"),
    "a file": lambda place: (place.root / "a").write_text("file", "utf-8"),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("by", sorted(SWAPPED))
def test_a_folder_that_is_swapped_while_it_is_opened_leads_nowhere(place: Tree, opener: Opener, by: str) -> None:
    place.write("a/secret.txt")
    place.write("b/secret.txt")

    def swap() -> None:
        (place.root / "a").rename(place.root / "moved")
        SWAPPED[by](place)

    with WorkdirView(place.root, opener=swapping(opener, "a", swap)) as view:
        assert code(view.read("a/secret.txt")) in {RefusalCode.CHANGED, RefusalCode.NOT_FOUND}


@pytest.mark.parametrize("by", ["link", "pipe"])
def test_a_file_that_is_swapped_while_it_is_opened_leads_nowhere(place: Tree, opener: Opener, by: str) -> None:
    file = place.write("a.txt")

    def swap() -> None:
        file.unlink()
        file.symlink_to(place.outside / "secret.txt") if by == "link" else os.mkfifo(file)

    with WorkdirView(place.root, opener=swapping(opener, "a.txt", swap)) as view:
        assert (RefusalCode.CHANGED if by == "link" else RefusalCode.SPECIAL) == code(view.read("a.txt"))


def test_a_root_that_is_swapped_stays_the_one_that_was_opened(place: Tree, view: WorkdirView) -> None:
    place.write("secret.txt", "inside\n")
    place.root.rename(place.root.with_name("moved"))
    place.root.symlink_to(place.outside)
    assert Shown("secret.txt", 1, ("inside",)) == view.read("secret.txt")
    found = view.grep("side")
    assert isinstance(found, Grepped)
    assert ["inside"] == [each.text for each in found.hits]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_an_opener_takes_one_part_of_a_path_only(place: Tree, opener: Opener, name: str) -> None:
    place.write("a/b")
    folder = os.open(place.root, FOLDER_FLAGS)
    try:
        with pytest.raises((OSError, ValueError)):
            opener(folder, name, FILE_FLAGS)
    finally:
        os.close(folder)


def test_search_and_glob_pass_over_links_and_what_is_outside(place: Tree, view: WorkdirView) -> None:
    place.write("a.txt", ELSEWHERE.upper())
    place.write(".git/a.txt", ELSEWHERE)
    place.write("sub/.stateward/a.txt", ELSEWHERE)
    place.link("file", place.outside / "secret.txt")
    place.link("sub/folder", place.outside)
    place.link("again", ".")
    listed = view.glob("**")
    assert isinstance(listed, Globbed)
    assert "a.txt\nagain (link)\nfile (link)\nsub/\nsub/folder (link)" == "\n".join(sorted(listed.text.splitlines()))
    found = view.grep(ELSEWHERE, ignore_case=True)
    assert isinstance(found, Grepped)
    assert ["a.txt"] == [each.path for each in found.hits]


@pytest.mark.parametrize("under", ["../outside", "folder", "file", ".git", "/"])
def test_no_search_begins_outside(place: Tree, view: WorkdirView, under: str) -> None:
    place.write(".git/config")
    place.link("folder", place.outside)
    place.link("file", place.outside / "secret.txt")
    assert [RefusalCode.OUTSIDE] * 2 == [code(view.glob("*", under=under)), code(view.grep(".", under=under))]


def test_no_handle_is_left_open(place: Tree, opener: Opener) -> None:
    place.write("a/b/c.txt")
    place.link("link", "a/b/c.txt")
    place.link("out", place.outside)
    before = open_handles()
    with WorkdirView(place.root, opener=opener) as view:
        for path in ("a/b/c.txt", "link", "a", "out", "none", "a/b/c.txt/d", "../x"):
            view.read(path)
        view.grep(".")
    assert before == open_handles()


@pytest.mark.parametrize(("fault", "kernel"), [(errno.ENOSYS, False), (errno.EPERM, False), (errno.EXDEV, True), (errno.ENOENT, True)])
def test_where_the_kernel_has_no_such_call_or_forbids_it_the_portable_way_is_taken(
    monkeypatch: pytest.MonkeyPatch, fault: int, kernel: bool
) -> None:
    def failing(*_: object) -> int:
        ctypes.set_errno(fault)
        return -1

    monkeypatch.setattr(beneath, "_syscall", lambda: failing)
    assert (kernel_open if kernel and sys.platform == "linux" else portable_open) is best_opener.__wrapped__()
