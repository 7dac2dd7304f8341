"""The real kernels, where torch and triton are installed: what is counted is what the formula says."""

from importlib.util import find_spec

import pytest

from fatutor.demo.catalogue import known_names
from fatutor.demo.events import Event, Result, Row, Started
from fatutor.demo.foreground import run_to_end
from fatutor.demo.launcher import local
from fatutor.paths import bundle_root


def test_the_kernels_list_what_the_decks_need():
    assert {"bytes-moved", "same-answer"} <= known_names(bundle_root())


@pytest.mark.skipif(
    not (find_spec("torch") and find_spec("triton")), reason="torch and triton are not installed"
)
def test_bytes_moved_confirms_its_formula():
    events: list[Event] = []
    outcome = run_to_end(local(), "bytes-moved", {"n": 128}, "cpu", events.append)
    assert isinstance(outcome, Result)
    assert outcome.verdict == "confirmed"
    assert outcome.measured == outcome.formula
    [started] = [event for event in events if isinstance(event, Started)]
    assert (started.device, started.params["n"]) == ("interpreter", 128)
    counted = {row.name: row for row in events if isinstance(row, Row) and row.measured is not None}
    assert counted["standard"].measured == counted["standard"].formula
    assert counted["tiled"].measured == counted["tiled"].formula == outcome.formula
