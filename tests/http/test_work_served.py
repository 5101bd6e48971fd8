"""The program attends to Workers of the store: they are started, worked in and kept to the folders that are allowed."""

from pathlib import Path

from tests.cli.program import place
from tests.http.running import running, token

ABOUT = {"selector": "builtin:coder-review", "texts": ["Ticket 41"]}


def test_a_worker_is_started_and_worked_in_through_the_program(tmp_path: Path) -> None:
    here = place(tmp_path)
    allowed = tmp_path / "allowed"
    (allowed / "one").mkdir(parents=True)
    (allowed / "out").symlink_to(tmp_path)
    operator = token(here, "olga", "--scope", "operate")
    with running(here, "--allow-workdir", str(allowed), given=operator) as service:
        with service.client() as client:
            started = client.post("/v1/workers", json={**ABOUT, "workdir": str(allowed / "one")})
            assert 201 == started.status_code, started.text
            worker = started.json()["worker"]
            elsewhere = (str(tmp_path), str(allowed / "out"), str(allowed / "one" / ".." / ".."), str(allowed / "none"), "one")
            refused = [client.post("/v1/workers", json={**ABOUT, "workdir": each}).json()["code"] for each in elsewhere]
            assert len(elsewhere) * ["workdir_not_allowed"] == refused
            unknown = client.post("/v1/workers", json={**ABOUT, "profile": "nobody"})
            assert (409, "profile_unusable") == (unknown.status_code, unknown.json()["code"])
            shown = client.get(f"/v1/workers/{worker}").json()
            assert (str(allowed / "one"), "local", "active") == (shown["workdir"], shown["isolation"], shown["flow"]["status"])
        agent = token(here, "robot", "--scope", f"work:{worker}")
        with service.client(agent) as client:
            noted = client.post(f"/v1/workers/{worker}/notes", json={"text": "It is done."})
            assert 200 == noted.status_code, noted.text
            entries = client.get(f"/v1/workers/{worker}/log").json()["entries"]
            assert ("note", "agent", "robot") == (entries[-1]["kind"], entries[-1]["actor_class"], entries[-1]["principal"])
        assert 0 == service.end()
