"""Where a service is, as a person names it."""

import pytest

from stateward.runtime.remote.address import ADDRESS_CHARACTERS_MAX, RemoteUnusable, read_address


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("https://flows.example.org", "https://flows.example.org"),
        ("https://flows.example.org/", "https://flows.example.org"),
        ("HTTPS://Flows.Example.org:8443/team/", "https://flows.example.org:8443/team"),
        ("http://127.0.0.1:8123", "http://127.0.0.1:8123"),
        ("http://127.9.9.9", "http://127.9.9.9"),
        ("http://[::1]:80/", "http://[::1]:80"),
        ("http://localhost:1", "http://localhost:1"),
        ("http://flows.localhost", "http://flows.localhost"),
    ],
)
def test_an_address_is_host_port_and_path_without_a_slash_at_its_end(text: str, base: str) -> None:
    assert base == str(read_address(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the address of the service is no URL of http or https"),
        ("flows.example.org", "the address of the service is no URL of http or https"),
        ("localhost:80", "the address of the service is no URL of http or https"),
        ("https:///flows", "the address of the service is no URL of http or https"),
        ("ftp://flows.example.org", "the address of the service is no URL of http or https"),
        ("file:///etc/passwd", "the address of the service is no URL of http or https"),
        ("https://flows.example.org?a=b", "the address of the service holds more than host, port and path"),
        ("https://flows.example.org/?", "the address of the service holds more than host, port and path"),
        ("https://flows.example.org/#x", "the address of the service holds more than host, port and path"),
        ("https://flows.example.org/v1", "the address of the service ends in `/v1`"),
        ("https://flows.example.org/team/v1/", "the address of the service ends in `/v1`"),
        ("https://flows.example.org/a/../b", "the path of the service's address leads elsewhere than it says"),
        ("https://flows.example.org/a//b", "the path of the service's address leads elsewhere than it says"),
        ("https://flows.example.org:none", "the port of the service's address is none"),
        ("https://flows.example.org:65536", "the port of the service's address is none"),
        ("https://flows.example.org:0", "the address of the service names no host, or no port that can be reached"),
        ("https://:80", "the address of the service names no host, or no port that can be reached"),
        ("https://[::1", "the address of the service is no URL"),
        ("https://flows.example.org/a b", "the address of the service holds what no URL does"),
        ("https://flows.example.org\\a", "the address of the service holds what no URL does"),
        ("https://fläws.example.org", "the address of the service holds what no URL does"),
        ("https://flows.example.org\n", "the address of the service holds what no URL does"),
        ("https://" + "a" * ADDRESS_CHARACTERS_MAX, f"the address of the service has more than {ADDRESS_CHARACTERS_MAX} characters"),
    ],
)
def test_what_is_no_address_is_refused_with_the_reason_and_a_remedy(text: str, message: str) -> None:
    with pytest.raises(RemoteUnusable) as refused:
        read_address(text)
    assert message == refused.value.message
    assert refused.value.remedy


@pytest.mark.parametrize("host", ["flows.example.org", "10.0.0.1", "[2001:db8::1]", "localhost.example.org", "127.0.0.1.example.org"])
def test_another_machine_is_named_without_tls_only_where_that_is_allowed(host: str) -> None:
    with pytest.raises(RemoteUnusable) as refused:
        read_address(f"http://{host}")
    assert f"`{host.strip('[]')}` is another machine, and `http` shows the token to everybody on the way" == refused.value.message
    assert f"http://{host}" == str(read_address(f"http://{host}", plain=True))


@pytest.mark.parametrize(
    "text",
    [
        "https://ada:hush-hush@flows.example.org",
        "http://hush-hush@10.0.0.1",
        "https://flows.example.org/?token=hush-hush",
        "x://hush-hush@h",
    ],
)
def test_no_message_tells_what_a_wrong_address_holds_of_a_secret(text: str) -> None:
    with pytest.raises(RemoteUnusable) as refused:
        read_address(text)
    assert "hush" not in f"{refused.value.message} {refused.value.remedy} {refused.value!r}"
