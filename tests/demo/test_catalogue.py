"""The list of demos: read with checks, asked for with patience that ends."""

import json
import sys

import pytest

from fatutor.deck.model import AnswerForm
from fatutor.demo.catalogue import Demo, Param, catalogue, known_names, read_catalogue
from fatutor.demo.launcher import Launcher
from fatutor.errors import FatutorError

BYTES = {
    "name": "bytes-moved",
    "claim": "Fewer bytes.",
    "question": "How many?\nIn bytes.",
    "unit": "B",
    "form": "number",
    "needs": ["torch", "triton"],
    "choices": [],
    "params": {"n": {"default": 512, "values": [128, 512], "help": "queries"}},
    "seconds": 4.5,
    "explain": "S is \x1b[1mwritten\x1b[0m.",
}
SAME = {"name": "same-answer", "form": "choice", "choices": ["nearer", "further"]}


def printing(*lines: str) -> Launcher:
    return Launcher((sys.executable, "-c", "import sys, time\n" + "\n".join(lines)))


def test_a_list_with_everything_and_with_little():
    assert read_catalogue(json.dumps([BYTES, SAME]).encode()) == (
        Demo(
            name="bytes-moved",
            claim="Fewer bytes.",
            question="How many?\nIn bytes.",
            form=AnswerForm.NUMBER,
            unit="B",
            needs=("torch", "triton"),
            params=(Param("n", 512, (128, 512), "queries"),),
            seconds=4.5,
            explain="S is written.",
        ),
        Demo("same-answer", "", "", AnswerForm.CHOICE, choices=("nearer", "further")),
    )


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("", "their list is not JSON"),
        ("{}", "their list is not a list"),
        ("[1]", "entry 1: not an object"),
        (json.dumps([SAME, {**BYTES, "name": ""}]), "entry 2: no name"),
        (json.dumps([{**BYTES, "form": "text"}]), "entry 1: form “text” is neither number nor choice"),
        (json.dumps([{**SAME, "choices": ["one"]}]), "entry 1: a choice between fewer than two"),
        (json.dumps([{**BYTES, "params": {"n": 512}}]), "entry 1: not an object"),
        (json.dumps([{**BYTES, "params": {"n": {}}}]), "entry 1: default is not a number"),
        (json.dumps([{**BYTES, "seconds": "4"}]), "entry 1: seconds is not a number"),
        (json.dumps([SAME, SAME]), "same-answer is listed twice"),
    ],
)
def test_a_list_that_does_not_fit_names_what(printed, why):
    with pytest.raises(FatutorError) as error:
        read_catalogue(printed.encode())
    assert str(error.value) == f"the demos could not be listed: {why}; run `fatutor doctor`"


def test_the_list_is_asked_for():
    said = json.dumps([BYTES])
    launcher = printing(f"assert sys.argv[1:] == ['list', '--json']; print({said!r})")
    assert [demo.name for demo in catalogue(launcher)] == ["bytes-moved"]


@pytest.mark.parametrize(
    ("launcher", "why"),
    [
        (printing("sys.exit('one\\nImportError: no such thing')"), "ImportError: no such thing"),
        (printing("sys.exit(3)"), "exit code 3"),
        (Launcher(("/no/such/program",)), "No such file or directory"),
    ],
)
def test_kernels_that_cannot_be_asked(launcher, why):
    with pytest.raises(FatutorError, match=why):
        catalogue(launcher)


def test_kernels_that_do_not_answer():
    with pytest.raises(FatutorError, match=r"no answer within 0\.2 s"):
        catalogue(printing("time.sleep(600)"), limit_seconds=0.2)


def test_names_under_a_root(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "__init__.py").touch()
    (tmp_path / "kernels" / "__main__.py").write_text(f"print({json.dumps([BYTES, SAME])!r})")
    assert known_names(tmp_path, {}) == {"bytes-moved", "same-answer"}
