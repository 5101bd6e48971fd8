"""Where the layers of a profile lie, which of them are trusted, and what stops a profile from being chosen."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from stateward.resources.profiles import builtin_names
from stateward.runtime.ports import Fault
from stateward.runtime.profile import DEFAULT, DEMONSTRATION, Profile, VerifierKind
from stateward.runtime.profile.layers import Layer, Unusable
from stateward.runtime.profile.places import OPERATOR_FILE, Broken, Chosen, Places, ProfileUnreadable, Unknown, choose, files_of, names

HEAD = "schema_version = 1;\n"
WORKSPACE = "0197a1b2-0000-7000-8000-000000000000"


@dataclass(frozen=True)
class Files:
    """Folders for every layer, all of them trusted, and a folder of work."""

    root: Path

    @property
    def places(self) -> Places:
        return Places(self.root / "config", WORKSPACE, self.root / "work", self.root / "etc" / "operator.dcdl")

    def put(self, layer: Layer, text: str, name: str = "mine") -> Path:
        file = dict(files_of(name, self.places))[layer]
        file.write_text(HEAD + text, "utf-8")
        file.chmod(0o600)
        return file

    def profile(self, name: str = "mine") -> Profile:
        found = choose(name, self.places)
        assert isinstance(found, Chosen), found
        return found.profile


@pytest.fixture
def files(tmp_path: Path) -> Files:
    for folder in ("config/profiles", "config/workspaces", "etc", "work"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder).chmod(0o700)
    return Files(tmp_path)


# --- which ones there are -----------------------------------------------------------------------------------------------------------


def test_the_files_of_the_layers_lie_where_the_reference_says() -> None:
    places = Places(Path("/home/ada/.config/stateward"), WORKSPACE, None)
    expected = (
        (Layer.OPERATOR, Path("/etc/stateward/operator.dcdl")),
        (Layer.WORKSPACE, Path(f"/home/ada/.config/stateward/workspaces/{WORKSPACE}.dcdl")),
        (Layer.ROLE, Path("/home/ada/.config/stateward/profiles/mine.dcdl")),
    )
    assert expected == files_of("mine", places)
    assert expected[0][1] == OPERATOR_FILE


def test_where_the_operators_file_lies_follows_from_nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "STATEWARD_OPERATOR"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert OPERATOR_FILE == Places(tmp_path, None, None).operator


def test_before_there_is_a_workspace_no_layer_of_one_is_looked_for() -> None:
    assert [Layer.OPERATOR, Layer.ROLE] == [layer for layer, _ in files_of("mine", Places(Path("/config"), None, None))]


@pytest.mark.parametrize("expected", [DEFAULT, DEMONSTRATION], ids=lambda each: each.name)
def test_a_built_in_profile_comes_to_the_one_that_the_program_has_at_hand(files: Files, expected: Profile) -> None:
    assert expected == files.profile(expected.name)


def test_the_default_of_a_new_installation_needs_no_key_and_no_file(tmp_path: Path) -> None:
    found = choose("default", Places(tmp_path / "not" / "there", None, tmp_path, tmp_path / "no-operator.dcdl"))
    assert isinstance(found, Chosen)
    assert (VerifierKind.PERSON, None) == (found.profile.verifier, found.profile.model)
    assert [Layer.BUILT_IN] == [each.layer for each in found.layers]


def test_the_names_are_those_that_are_built_in_and_the_users_own(files: Files) -> None:
    files.put(Layer.ROLE, "")
    for other in ("notes.txt", "Odd Name.dcdl", ".hidden.dcdl"):
        (files.places.roles / other).write_text("", "utf-8")
    assert tuple(sorted({*builtin_names(), "mine"})) == names(files.places)


@pytest.mark.parametrize("name", ["nobody", "", "../profiles/mine", "mine.dcdl", "MINE", "a/b", "mine\0", "\u202e"])
def test_a_name_of_no_profile_is_refused_and_no_path_is_made_of_it(files: Files, name: str) -> None:
    files.put(Layer.ROLE, "")
    assert isinstance(choose(name, files.places), Unknown)


def test_a_name_that_is_mistyped_is_offered_again(files: Files) -> None:
    assert Unknown("no profile is named `defualt`", "did you mean `default`?") == choose("defualt", files.places)


# --- how they come together ---------------------------------------------------------------------------------------------------------


def test_the_layers_come_together_the_highest_first(files: Files) -> None:
    operator = files.put(Layer.OPERATOR, 'bounds.turns = 8; selectors = ["builtin:*"];')
    workspace = files.put(Layer.WORKSPACE, "bounds.turns = 9; caps.hold_after = 2;")
    role = files.put(Layer.ROLE, 'bounds.turns = 4; verifier = { kind = "model"; provider = "openai"; model = "m"; };')
    found = choose("mine", files.places)
    assert isinstance(found, Chosen)
    expected = [str(operator), str(workspace), str(role), "builtin/profiles/default.dcdl"]
    assert expected == [each.file for each in found.layers]
    profile = found.profile
    assert (4, 2, ("builtin:*",), VerifierKind.MODEL) == (
        profile.verification.turns,
        profile.bounds.hold_after,
        profile.selectors,
        profile.verifier,
    )


def test_an_operator_narrows_every_profile(files: Files) -> None:
    files.put(Layer.OPERATOR, "demonstration = false;")
    assert isinstance(choose("demonstration", files.places), Unusable)
    files.put(Layer.OPERATOR, "feature.flow = false;")
    assert not files.profile("default").flow_enabled


def test_a_profile_of_ones_own_stands_on_the_built_in_one_that_it_names(files: Files) -> None:
    files.put(Layer.ROLE, 'base = "demonstration";')
    assert (VerifierKind.SCRIPTED, True) == (files.profile().verifier, files.profile().demonstration)


def test_a_profile_of_ones_own_narrows_the_built_in_one_of_its_name(files: Files) -> None:
    files.put(Layer.ROLE, "caps.hold_after = 1;", "demonstration")
    profile = files.profile("demonstration")
    assert (VerifierKind.SCRIPTED, 1) == (profile.verifier, profile.bounds.hold_after)


def test_a_profile_of_ones_own_gains_nothing_that_what_it_stands_on_denies(files: Files) -> None:
    files.put(Layer.ROLE, 'demonstration = true; verifier.kind = "scripted";')
    assert isinstance(choose("mine", files.places), Unusable)


def test_a_profile_stands_on_nothing_but_a_built_in_one(files: Files) -> None:
    files.put(Layer.ROLE, "", "other")
    files.put(Layer.ROLE, 'base = "other";')
    expected = Unknown("profile `mine` stands on `other`, which is not built in", "there are `default` and `demonstration`")
    assert expected == choose("mine", files.places)


# --- what stops everything ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [Layer.OPERATOR, Layer.WORKSPACE, Layer.ROLE])
def test_a_layer_that_is_not_right_leaves_no_profile(files: Files, layer: Layer) -> None:
    file = files.put(layer, "bounds.trns = 1;")
    found = choose("mine", files.places)
    assert isinstance(found, Broken)
    assert [(str(file), "unknown_field")] == [(each.primary.place.source.name, each.code) for each in found.diagnostics]


def untrusted(places: Places, name: str = "mine") -> str:
    with pytest.raises(ProfileUnreadable) as refused:
        choose(name, places)
    fault = refused.value
    assert isinstance(fault, Fault)
    assert fault.remedy
    return fault.message


@pytest.mark.parametrize("layer", [Layer.OPERATOR, Layer.WORKSPACE, Layer.ROLE])
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_not_trusted(files: Files, layer: Layer, mode: int) -> None:
    file = files.put(layer, "")
    file.chmod(mode)
    assert f"{file} can be written by others (mode {mode:04o})" == untrusted(files.places)


def test_a_file_in_a_folder_that_others_can_write_is_not_trusted(files: Files) -> None:
    file = files.put(Layer.ROLE, "")
    file.parent.chmod(0o777)
    assert f"{file.parent} can be written by others (mode 0777)" == untrusted(files.places)


def test_a_file_that_others_can_read_is_trusted_for_it_holds_no_secret(files: Files) -> None:
    files.put(Layer.ROLE, "").chmod(0o644)
    assert "mine" == files.profile().name


def test_no_profile_is_read_from_the_folder_of_the_work(tmp_path: Path, files: Files) -> None:
    file = files.put(Layer.ROLE, "demonstration = true;")
    for work in (tmp_path, tmp_path / "config", file.parent):
        places = Places(files.places.configuration, WORKSPACE, work, files.places.operator)
        assert f"the profile {file} lies in the folder of the work" == untrusted(places)


def test_no_profile_is_read_from_the_folder_of_the_work_through_a_link(files: Files) -> None:
    inside = files.root / "work" / "mine.dcdl"
    inside.write_text(HEAD, "utf-8")
    inside.chmod(0o600)
    link = files.places.roles / "mine.dcdl"
    link.symlink_to(inside)
    assert f"the profile {link} lies in the folder of the work" == untrusted(files.places)
    link.unlink()
    files.places.roles.rmdir()
    (files.root / "work" / "profiles").mkdir()
    inside.rename(files.root / "work" / "profiles" / "mine.dcdl")
    files.places.roles.symlink_to(files.root / "work" / "profiles")
    assert f"the profile {link} lies in the folder of the work" == untrusted(files.places)


def test_the_folder_of_the_work_is_known_whatever_it_is_called(files: Files) -> None:
    file = files.put(Layer.ROLE, "")
    other_name = files.root / "other-name"
    other_name.symlink_to(files.root / "config")
    places = Places(files.places.configuration, WORKSPACE, other_name, files.places.operator)
    assert f"the profile {file} lies in the folder of the work" == untrusted(places)


def test_a_link_to_a_file_elsewhere_is_followed(files: Files) -> None:
    kept = files.root / "config" / "kept.dcdl"
    kept.write_text(HEAD + "caps.hold_after = 2;", "utf-8")
    kept.chmod(0o600)
    (files.places.roles / "mine.dcdl").symlink_to(kept)
    assert 2 == files.profile().bounds.hold_after


def test_a_link_to_nothing_is_no_layer_that_is_not_there(files: Files) -> None:
    files.places.operator.symlink_to(files.root / "gone.dcdl")
    assert "cannot be read" in untrusted(files.places, "default")


def test_what_is_no_file_is_not_waited_for(files: Files) -> None:
    os.mkfifo(files.places.operator, 0o600)
    assert f"the profile {files.places.operator} is no file" == untrusted(files.places, "default")
    files.places.operator.unlink()
    files.places.operator.mkdir()
    assert "default" != untrusted(files.places, "default")


def test_a_circle_of_links_is_told(files: Files) -> None:
    files.places.operator.symlink_to(files.places.operator)
    assert "cannot be read" in untrusted(files.places, "default")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read anything")
def test_a_layer_that_cannot_be_read_is_no_layer_that_is_not_there(files: Files) -> None:
    files.put(Layer.OPERATOR, "").chmod(0)
    assert "cannot be read" in untrusted(files.places, "default")
    files.places.operator.parent.chmod(0)
    assert "cannot be read" in untrusted(files.places, "default")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may give a file away")
def test_a_file_of_another_user_is_not_trusted(files: Files) -> None:
    file = files.put(Layer.ROLE, "")
    os.chown(file, 12345, -1)
    assert f"{file} belongs to another user" == untrusted(files.places)
