"""The inside of a card comment."""

from __future__ import annotations

import pytest

from fatutor.deck.attributes import Attributes, read
from fatutor.deck.faults import Faults
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import AnswerForm, Kind, Level, Response


def read_comment(text: str, hardware: Hardware) -> tuple[Attributes | None, list[str]]:
    faults = Faults("a.md")
    return read(text, 7, hardware, faults), [str(fault).removeprefix("a.md:7: ") for fault in faults.found]


def test_defaults(hardware: Hardware) -> None:
    found, faults = read_comment(" id=one kind=recall ", hardware)
    assert faults == []
    assert found == Attributes("one", Kind.RECALL, Response(), None, None, 60, (), None)


def test_all_of_them(hardware: Hardware) -> None:
    text = """id='a-b' kind=prove-it level=staff difficulty=5 target=2m tags="a, b c,,d" demo=same-answer
              answer=number value="312e12/2.0e12" unit='FLOP / B' tolerance=5% after=one,two-2"""
    found, faults = read_comment(text, hardware)
    assert faults == []
    assert found == Attributes(
        id="a-b",
        kind=Kind.PROVE_IT,
        response=Response(AnswerForm.NUMBER, 156.0, "FLOP / B", 0.05),
        level=Level.STAFF,
        difficulty=5,
        target_seconds=120,
        tags=("a", "b c", "d"),
        demo="same-answer",
        after=("one", "two-2"),
    )


@pytest.mark.parametrize(
    ("attribute", "cure"),
    [
        ("id=ab", "3 to 64 lower-case letters, digits and hyphens, as in id=my-ridge-a100"),
        ("id=-abc", "3 to 64 lower-case letters, digits and hyphens, as in id=my-ridge-a100"),
        ("id=Ridge", "3 to 64 lower-case letters, digits and hyphens, as in id=my-ridge-a100"),
        ("id=a#c1", "3 to 64 lower-case letters, digits and hyphens, as in id=my-ridge-a100"),
        ("id=", "3 to 64 lower-case letters, digits and hyphens, as in id=my-ridge-a100"),
        ("level=senior", "level=screen, onsite or staff"),
        ("level=stage", "level=staff"),
        ("difficulty=6", "difficulty=1 (easy) to difficulty=5"),
        ("difficulty=²", "difficulty=1 (easy) to difficulty=5"),
        ("target=60", "a time such as target=60s, target=2m or target=1m30s"),
        ("target=0s", "a time such as target=60s, target=2m or target=1m30s"),
        ("answer=txt", "answer=text"),
        ("after=Ridge", "ids of cards with a comma between them, as in after=ridge-a100,kernel-exp2"),
        ("after=one;two", "ids of cards with a comma between them, as in after=ridge-a100,kernel-exp2"),
        ("unit=GiB", "answer=number before unit=…, or leave it out"),
    ],
)
def test_a_value_that_cannot_be_read_names_itself_and_the_cure(
    attribute: str, cure: str, hardware: Hardware
) -> None:
    _, faults = read_comment(f"{attribute} kind=recall", hardware)
    assert faults == [f"{attribute} cannot be read; write {cure}"]


def test_the_kind_is_needed(hardware: Hardware) -> None:
    assert read_comment("id=one", hardware) == (
        None,
        ["this card says no kind; add kind=prove-it, interview, recall or cloze"],
    )
    assert read_comment("id=one kind=recal", hardware) == (
        None,
        ["kind=recal cannot be read; write kind=recall"],
    )


def test_unknown_keys_are_warnings(hardware: Hardware) -> None:
    found, faults = read_comment("id=one kind=recall dificulty=3 prove=x", hardware)
    assert found is not None
    assert faults[0] == 'warning: unknown key "dificulty" in the card comment; did you mean difficulty?'
    assert faults[1].startswith(
        'warning: unknown key "prove" in the card comment; the keys are id, kind, level,'
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "kind=recall oops",
            '"oops" in the card comment is no key=value; write key=value or key="two words"',
        ),
        (
            'kind=recall unit="GiB',
            '"unit="GiB" in the card comment is no key=value; write key=value or key="two words"',
        ),
        ("kind=recall kind=recall", "kind is there twice in the card comment; keep one of them"),
    ],
)
def test_what_is_no_pair_is_a_fault(text: str, fault: str, hardware: Hardware) -> None:
    assert read_comment(text, hardware)[1] == [fault]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("256", 256.0),
        ("-1.5e3", -1500.0),
        ('"2**10"', 1024.0),
        ('"round(A100.ridge)"', 153.0),
        ("'1 / 4'", 0.25),
    ],
)
def test_a_value_is_arithmetic(value: str, number: float, hardware: Hardware) -> None:
    found, faults = read_comment(f"kind=recall answer=number value={value}", hardware)
    assert faults == []
    assert found is not None
    assert found.response == Response(AnswerForm.NUMBER, number, "", 0.0)


@pytest.mark.parametrize("value", ["True", "10**400", "inf", "(1,2)"])
def test_a_value_that_is_no_finite_number(value: str, hardware: Hardware) -> None:
    (fault,) = read_comment(f"kind=recall answer=number value={value}", hardware)[1]
    assert fault == (
        f'value={value} cannot be read; write a number, or arithmetic in quotes as in value="312e12/2.0e12"'
    )


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "answer=number needs the right number; add value=…"),
        (
            "value=H100.ridge",
            'value="H100.ridge" cannot be worked out: "H100" is unknown; did you mean A100?',
        ),
        (
            "value=1/0",
            'value="1/0" cannot be worked out: it divides by zero; keep the divisor away from 0',
        ),
    ],
)
def test_a_value_that_cannot_be_worked_out(value: str, fault: str, hardware: Hardware) -> None:
    assert read_comment(f"kind=recall answer=number {value}", hardware)[1] == [fault]


@pytest.mark.parametrize(
    ("tolerance", "share"), [("5%", 0.05), ("0.5%", 0.005), ("0.1", 0.1), (".25", 0.25), ("0", 0.0)]
)
def test_a_tolerance_is_a_share(tolerance: str, share: float, hardware: Hardware) -> None:
    found, faults = read_comment(f"kind=recall answer=number value=1 tolerance={tolerance}", hardware)
    assert faults == []
    assert found is not None
    assert found.response.tolerance == pytest.approx(share)


@pytest.mark.parametrize("tolerance", ["5", "100%", "-1%", "1.5", "five"])
def test_a_tolerance_of_all_or_more_is_a_fault(tolerance: str, hardware: Hardware) -> None:
    _, faults = read_comment(f"kind=recall answer=number value=1 tolerance={tolerance}", hardware)
    assert faults == [
        f"tolerance={tolerance} cannot be read; write a share of the value under 100%, as in tolerance=5%"
    ]


def test_value_beside_another_form_is_a_fault(hardware: Hardware) -> None:
    _, faults = read_comment("kind=recall answer=text value=3", hardware)
    assert faults == [
        "value=3 cannot be read; write answer=number in place of answer=text, or leave value out"
    ]
