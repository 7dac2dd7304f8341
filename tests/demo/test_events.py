"""Every line of a child is an event with checked fields or noise with a reason; none is an exception."""

import json
import unicodedata
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.demo.events import (
    LINE_CAP,
    TEXT_CAP,
    Call,
    Failed,
    Noise,
    Progress,
    Result,
    Row,
    Series,
    Started,
    read_event,
)

CALL = Call("tiled", "flash", 512, 64, 1, "float16")
FLASH = {"name": "tiled", "impl": "flash", "n": 512, "d": 64, "heads": 1, "dtype": "float16"}


def line(event: str, **fields: object) -> str:
    return json.dumps({"v": 1, "event": event, **fields})


def test_a_start_with_all_its_fields():
    said = line(
        "start",
        demo="bytes-moved",
        device="interpreter",
        device_name="interpreter on x86_64",
        versions={"torch": "2.13"},
        params={"n": 512, "causal": True, "dtype": "fp16"},
        plan="count",
        at="2026-12-02",
    )
    assert read_event(said) == Started(
        demo="bytes-moved",
        device="interpreter",
        device_name="interpreter on x86_64",
        versions={"torch": "2.13"},
        params={"n": 512, "causal": True, "dtype": "fp16"},
        plan="count",
        at="2026-12-02",
    )


@pytest.mark.parametrize(
    ("said", "event"),
    [
        (line("start", demo="d", device="cpu"), Started("d", "cpu")),
        (line("progress", done=1, total=2, note="tile"), Progress(1, 2, "tile")),
        (line("progress", done=1, total=None), Progress(1, None)),
        (line("row", name="floor", formula=263168, measured=None, unit="B"), Row("floor", 263168, None, "B")),
        (line("series", name="s", x=[1, 2], y=[0.5, 2], x_unit="N"), Series("s", (1, 2), (0.5, 2), "N")),
        (line("result", verdict="refuted", measured=3), Result("refuted", measured=3)),
        (line("result", verdict="confirmed", answer="B", spread=None), Result("confirmed", answer="B")),
        (line("result", verdict="confirmed", calls=[FLASH]), Result("confirmed", calls=(CALL,))),
        (line("error", what="no torch", way_out="install it"), Failed("no torch", "install it")),
    ],
)
def test_each_event_as_text_and_as_bytes(said, event):
    assert read_event(said) == event
    assert read_event(said.encode() + b"\r\n") == event


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "not JSON"),
        ("loading …", "not JSON"),
        ('{"v": 1, "event": "row", "name": "cut', "not JSON"),
        (line("row", name="a", measured=float("nan")), "not JSON"),
        (line("row", name="a", measured=float("-inf")), "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"v": 1, "event": "progress", "done": ' + "9" * 5000 + "}", "not JSON"),
        ("[1]", "not a JSON object"),
        ("17", "not a JSON object"),
        ("{}", "no v"),
        ('{"v": 2, "event": "progress", "done": 1}', "not version 1 of the wire"),
        ('{"v": true, "event": "progress", "done": 1}', "v is not a number"),
        ('{"v": 1}', "no event"),
        (line("reboot"), "an unknown event"),
        (line("start", demo="d"), "no device"),
        (line("start", demo=7, device="cpu"), "demo is not a text"),
        (line("start", demo="d", device="cpu", versions=["2.13"]), "versions is not an object"),
        (line("start", demo="d", device="cpu", params={"n": [1]}), "params is not a number"),
        (line("progress", done="1"), "done is not a number"),
        (line("progress", done=True), "done is not a number"),
        (line("progress", done=-1), "progress is negative"),
        ('{"v": 1, "event": "progress", "done": 1e999}', "done is not a finite number"),
        (line("progress", done=10**400), "done is not a finite number"),
        (line("row", name=" \t"), "no name"),
        (line("row", name="a", unit="B" * (TEXT_CAP + 1)), "unit is longer than 8192 characters"),
        (line("series", name="s", x=[1], y=[1, 2]), "a series with 1 x and 2 y"),
        (line("series", name="s", x=[1], y=["1"]), "y is not a number"),
        (line("series", name="s", x=[1], y=3), "y is not a list"),
        (line("result", verdict="maybe"), "verdict is neither confirmed nor refuted"),
        (line("result"), "no verdict"),
        (line("result", verdict="confirmed", calls=7), "calls is not a list"),
        (line("result", verdict="confirmed", calls=["flash"]), "not an object"),
        (line("result", verdict="confirmed", calls=[FLASH | {"n": 0.5}]), "n is not a count"),
        (line("result", verdict="confirmed", calls=[FLASH | {"d": -1}]), "d is not a count"),
        (line("error", what=""), "no what"),
        ("x" * (LINE_CAP + 1), "a line of more than 256 KiB"),
    ],
)
def test_anything_else_is_noise_with_a_reason(said, reason):
    noise = read_event(said)
    assert isinstance(noise, Noise)
    assert noise.reason == reason
    assert len(noise.text) <= 500


def test_what_a_child_says_cannot_act_on_a_terminal():
    event = read_event(line("row", name="\x1b[31mred\x1b[0m\x07\n\u202eder", unit="B\ud800", measured=1))
    assert event == Row("red der", None, 1, "B\ufffd")
    assert read_event("\x1b]0;title\x07 hello") == Noise("not JSON", "hello")
    assert read_event(line("result", verdict="confirmed", why="one\ntwo\x9b2J")) == Result(
        "confirmed", why="one\ntwo"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    *("demo", "device", "params", "versions", "done", "total", "name", "formula", "measured", "unit"),
    *("x", "y", "verdict", "why", "what", "answer"),
]
EVENTS = ["start", "progress", "row", "series", "result", "error", "else"]


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_line_raises(said):
    assert isinstance(read_event(said), Noise)


@given(st.sampled_from(EVENTS), st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_field_raises_and_none_comes_out_unclean(event, fields):
    read = read_event(json.dumps({"v": 1, "event": event, **fields}))
    texts = [value for value in astuple(read) if isinstance(value, str)]
    assert not [
        text for text in texts for sign in text if unicodedata.category(sign) == "Cc" and sign not in "\n\t"
    ]
