"""Cards that are put away or flagged: listed, brought back, and undone like anything else."""

from __future__ import annotations

import pytest

from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.schedule.fold import fold
from fatutor.schedule.log import EntryKind
from fatutor.study import sheet


def test_a_card_put_away_is_listed_and_comes_back(desk: Desk) -> None:
    drill = desk.drill()
    drill.flag()
    away = drill.suspend()
    assert [(m.card.id, m.told) for m in desk.overview().marked] == [(away.id, "put away · flagged")]
    assert desk.drill().left == 3
    desk.unmark(away, EntryKind.RESUME)
    assert desk.drill().left == 4
    assert [m.told for m in desk.overview().marked] == ["flagged"]
    desk.unmark(away, EntryKind.UNFLAG)
    assert desk.overview().marked == ()
    kinds = [str(entry.kind) for entry in desk.store.entries(card=away.id)]
    assert kinds == ["flag", "suspend", "resume", "unflag"]
    assert fold(desk.store.entries()) == dict(desk.store.facts().states)


@pytest.mark.parametrize("kind", [EntryKind.RESUME, EntryKind.UNFLAG])
def test_a_mark_that_is_not_there_cannot_come_off(desk: Desk, kind: EntryKind) -> None:
    with pytest.raises(FatutorError, match="has no such mark"):
        desk.unmark(desk.library.cards["ridge"], kind)
    assert not desk.paths.database.exists()


def test_undo_puts_it_away_again_and_off_the_table(desk: Desk) -> None:
    drill = desk.drill()
    away = drill.suspend()
    desk.unmark(away, EntryKind.RESUME)
    drill = desk.drill()
    assert drill.turn is not None and drill.turn.card.id == away.id
    undone = drill.undo()
    assert sheet.taken_back(undone) == "taken back: back in the drill"
    assert drill.turn is not None and drill.turn.card.id != away.id
    asked = set()
    while drill.turn is not None:
        asked.add(drill.bury().id)
    assert asked == set(desk.library.cards) & {"ridge", "number", "choice", "written"} - {away.id}


def test_undo_of_a_resume_leaves_another_card_on_the_table(desk: Desk) -> None:
    drill = desk.drill()
    away = drill.suspend()
    desk.unmark(away, EntryKind.RESUME)
    turn = drill.turn
    drill.undo()
    assert drill.turn is turn
    assert desk.store.facts().states[away.id].suspended
