"""An answer in several parts goes out at once: no part waits until the one before was acknowledged."""

from contextlib import closing
from socket import AF_INET, IPPROTO_TCP, TCP_NODELAY, create_connection

from stateward.runtime.surfaces.http.serving import Place, listen


def test_a_connection_to_a_service_holds_nothing_back() -> None:
    with closing(listen(Place(AF_INET, "127.0.0.1", 0))) as listening, create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert 0 != accepted.getsockopt(IPPROTO_TCP, TCP_NODELAY)
