"""`stateward profile`: what people and programs are shown of profiles."""

import json
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.profile import DEFAULT, VerifierKind
from stateward.runtime.profile.form import FIELDS
from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.profile import profile_named
from tests.cli.program import Place, place

HEAD = "schema_version = 1;\n"
MODEL = HEAD + (
    'about = "A model reviews.";\n'
    'verifier = { kind = "model"; provider = "openai"; model = "m-1"; key_command = ["/bin/key", "a-word"]; };\n'
    "caps.hold_after = 2;\n"
)


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    (tmp_path / ".config" / "stateward" / "profiles").mkdir(parents=True)
    (tmp_path / ".config" / "stateward" / "workspaces").mkdir()
    for folder in ("profiles", "workspaces"):
        (tmp_path / ".config" / "stateward" / folder).chmod(0o700)
    return made


def put(here: Place, name: str, text: str, folder: str = "profiles") -> Path:
    file = here.folder / ".config" / "stateward" / folder / f"{name}.dcdl"
    file.write_text(text, "utf-8")
    file.chmod(0o600)
    return file


def shown(here: Place, name: str) -> Any:
    return json.loads(here.done("profile", "show", name, "--json"))


def test_the_profiles_that_ship_are_listed_with_what_they_are_for(here: Place) -> None:
    first, *rows = here.done("profile", "list").splitlines()
    assert ["profile", "judged", "by", "from"] == first.split()
    assert ["default        person     built-in  A person at the terminal judges; no key is needed."] == rows[:1]
    assert rows[1].startswith("demonstration  scripted   built-in  ")


def test_a_profile_of_ones_own_is_listed_among_them(here: Place) -> None:
    put(here, "reviews", MODEL)
    rows = [json.loads(line) for line in here.done("profile", "list", "--json").splitlines()]
    expected = {
        "version": 1,
        "name": "reviews",
        "verifier": "model",
        "layers": ["role", "built-in"],
        "about": "A model reviews.",
        "problem": "",
    }
    assert expected == rows[-1]
    assert ["default", "demonstration", "reviews"] == [each["name"] for each in rows]


def test_a_profile_that_cannot_be_used_is_listed_with_what_is_wrong_and_hides_no_other(here: Place) -> None:
    broken = put(here, "broken", HEAD + "bounds.trns = 1;")
    open_to_all = put(here, "open", HEAD)
    open_to_all.chmod(0o666)
    put(here, "lost", HEAD + 'base = "nowhere";')
    put(here, "script", HEAD + 'verifier.kind = "scripted";')
    rows = {each["name"]: each["problem"] for each in map(json.loads, here.done("profile", "list", "--json").splitlines())}
    assert {
        "broken": f"{broken}:2: `bounds` has no field `trns`",
        "default": "",
        "demonstration": "",
        "lost": "profile `lost` stands on `nowhere`, which is not built in",
        "open": f"{open_to_all} can be written by others (mode 0666)",
        "script": "profile `script` is to be judged by a script, and is no demonstration",
    } == rows
    assert "`bounds` has no field `trns`" in here.done("profile", "list")


def test_what_a_profile_comes_to_is_shown_with_the_layer_that_each_part_is_from(here: Place) -> None:
    file = put(here, "reviews", MODEL)
    said = here.done("profile", "show", "reviews")
    lines = said.splitlines()
    assert "reviews  A model reviews." == lines[0]
    assert f"role{file}" in "".join(said.split())  # a long path goes over several lines
    assert "operator  /etc/stateward/operator.dcdl (not there)" in lines
    cells = {line.split()[0]: line.split()[1:] for line in lines[lines.index("") :] if line}
    assert ["m-1", "role"] == cells["verifier.model"]
    assert ["2", "role"] == cells["caps.hold_after"]
    assert ["no", "built-in"] == cells["demonstration"]
    assert ["12", "-"] == cells["bounds.turns"]
    assert ["none", "-"] == cells["agent_selectors"]


def test_programs_are_given_the_same(here: Place) -> None:
    put(here, "reviews", MODEL)
    data = shown(here, "reviews")
    assert (1, "reviews", "A model reviews.") == (data["version"], data["name"], data["about"])
    assert ["role", "built-in"] == [each["layer"] for each in data["layers"]]
    assert ["operator"] == [each["layer"] for each in data["absent"]]
    assert {"value": 2, "set_by": ["role"]} == data["fields"]["caps.hold_after"]
    assert {"value": False, "set_by": ["built-in"]} == data["fields"]["demonstration"]
    assert data["fields"].keys() <= FIELDS.keys()
    assert {each.name for each in FIELDS.values() if each.section != "verifier"} <= data["fields"].keys()


def test_the_digest_is_that_which_a_log_pins(here: Place) -> None:
    assert DEFAULT.pinned().digest == shown(here, "default")["digest"]


def test_the_words_of_a_command_that_prints_a_key_are_not_shown(here: Place) -> None:
    put(here, "reviews", MODEL)
    for more in ((), ("--json",)):
        told = here.done("profile", "show", "reviews", *more)
        assert "/bin/key" in told
        assert "a-word" not in told


def test_the_workspace_has_a_layer_of_its_own(here: Place) -> None:
    here.done("flow", "save", str(_flow(here)))
    marker = (here.work / ".stateward" / "workspace").read_text("utf-8").strip()
    put(here, marker, HEAD + "feature.flow = false;", "workspaces")
    data = shown(here, "default")
    assert ["workspace", "built-in"] == [each["layer"] for each in data["layers"]]
    assert {"value": False, "set_by": ["workspace"]} == data["fields"]["feature.flow"]


def _flow(here: Place) -> Path:
    path = here.work / "one.dcdl"
    path.write_text('schema_version = 1; name = "one"; initial = "a"; states = { a = { instructions = ""; terminal = true; }; };', "utf-8")
    return path


def test_the_folder_of_the_users_configuration_follows_the_environment(here: Place) -> None:
    elsewhere = here.folder / "elsewhere"
    (elsewhere / "stateward" / "profiles").mkdir(parents=True)
    (elsewhere / "stateward" / "profiles").chmod(0o700)
    file = elsewhere / "stateward" / "profiles" / "mine.dcdl"
    file.write_text(HEAD, "utf-8")
    file.chmod(0o600)
    ended = here.call("profile", "show", "mine", "--json", XDG_CONFIG_HOME=str(elsewhere))
    assert str(file) == json.loads(ended.out)["layers"][0]["file"]
    assert STATUS_USAGE == here.call("profile", "show", "mine", XDG_CONFIG_HOME="not/whole").status


def test_a_profile_that_is_not_there_is_refused_with_what_there_is(here: Place) -> None:
    ended = here.call("profile", "show", "defualt")
    expected = "error: no profile is named `defualt`\n  = help: did you mean `default`?\n"
    assert (STATUS_USAGE, "", expected) == (ended.status, ended.out, ended.err)


def test_a_profile_that_is_not_right_is_told_like_any_source(here: Place) -> None:
    file = put(here, "mine", HEAD + "bounds.trns = 1;")
    ended = here.call("profile", "show", "mine")
    assert (STATUS_FOUND, "") == (ended.status, ended.out)
    assert "error[unknown_field]: `bounds` has no field `trns`" in ended.err
    assert "= help: did you mean `turns`?" in ended.err
    assert f"error: profile `mine` cannot be used: {file} is not right" in ended.err


def test_a_profile_that_its_layers_do_not_allow_is_refused(here: Place) -> None:
    put(here, "mine", HEAD + 'verifiers = ["model"];')
    ended = here.call("profile", "show", "mine")
    expected = "error: profile `mine` is to be judged by `person`, and its layers allow `model`\n  = help: choose another verifier\n"
    assert (STATUS_FOUND, "", expected) == (ended.status, ended.out, ended.err)


def test_a_file_that_others_can_write_ends_the_command_with_what_to_do(here: Place) -> None:
    file = put(here, "mine", HEAD)
    file.chmod(0o622)
    ended = here.call("profile", "show", "mine")
    expected = f"error: {file} can be written by others (mode 0622)\n  = help: chmod go-w {file}\n"
    assert (STATUS_ENVIRONMENT, "", expected) == (ended.status, ended.out, ended.err)


def test_nothing_is_written_to_look_at_profiles(here: Place) -> None:
    before = sorted(here.folder.rglob("*"))
    here.done("profile", "list")
    here.done("profile", "show", "default")
    assert before == sorted(here.folder.rglob("*"))


def test_other_commands_are_given_the_profile_that_a_person_named(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here.folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    put(here, "reviews", MODEL)
    assert VerifierKind.MODEL is profile_named("reviews", here.work).verifier
    with pytest.raises(Stop):
        profile_named("nobody", here.work)
