"""Real children that behave and misbehave; none of them may outlive its run."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fatutor.demo.events import Failed, Progress, Result, Row, Started
from fatutor.demo.launcher import Launcher, local
from fatutor.demo.run import Run
from fatutor.errors import FatutorError

FOREVER = "time.sleep(600)"


def test_a_run_gives_its_events_in_order_and_leaves_nothing(fake, collect, assert_gone, noted):
    launcher = fake("""
        note("cwd", os.getcwd()); note("argv", " ".join(sys.argv[1:]))
        start(); say("progress", done=1, total=2); say("row", name="standard", measured=3, unit="B")
        result(measured=3, unit="B")
    """)
    events, log = collect(launcher)
    assert [type(event) for event in events] == [Started, Progress, Row, Result]
    assert log == ()
    assert noted("argv") == "run fake --device auto --json"
    assert not Path(noted("cwd")).exists()
    assert_gone()


def test_parameters_reach_the_child(fake, noted):
    async def follow(launcher: Launcher) -> None:
        async with Run(launcher, "fake", {"n": 512, "causal": True}, "cpu") as run:
            assert [event async for event in run]

    asyncio.run(follow(fake('note("argv", " ".join(sys.argv[1:])); result()')))
    assert noted("argv") == "run fake --device cpu --param n=512 --param causal=True --json"


def test_a_full_stop_at_the_end_of_a_quotation_is_left_out(fake, collect):
    events, _ = collect(fake("""sys.exit("Connection to box closed by remote host.")"""))
    assert events[-1].what == (
        "fake ended with exit code 1 and without a result: Connection to box closed by remote host"
    )


def test_a_child_that_dies_at_once_is_quoted(fake, collect):
    events, log = collect(fake("""sys.exit("first\\nRuntimeError: no such tile")"""))
    assert log == ("first", "RuntimeError: no such tile")
    assert events == [
        Failed(
            "fake ended with exit code 1 and without a result: RuntimeError: no such tile",
            "run it again, or another size",
        )
    ]


def test_last_words_need_no_end_of_line(fake, collect):
    events, _ = collect(fake("sys.stderr.write('half a sen'); sys.stderr.flush(); os.abort()"))
    assert events[-1].what == "fake was ended by SIGABRT: half a sen"


def test_a_child_that_dies_in_the_middle_keeps_what_it_said(fake, collect, assert_gone):
    events, _ = collect(fake("start(); say('row', name='a', measured=1); os._exit(7)"))
    assert [type(event) for event in events] == [Started, Row, Failed]
    assert events[-1].what == "fake ended with exit code 7 and without a result"
    assert_gone()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_a_child_that_a_signal_ends(fake, collect, name):
    events, _ = collect(fake(f"start(); os.kill(os.getpid(), signal.{name})"))
    assert events[-1].what == f"fake was ended by {name}"
    # Who runs out of memory is killed; nothing says why another signal came.
    assert ("smaller size" in events[-1].way_out) == (name == "SIGKILL")


def test_a_child_that_exits_well_but_says_nothing_has_failed(fake, collect):
    events, _ = collect(fake("start()"))
    assert events[-1].what == "fake ended with exit code 0 and without a result"


def test_an_error_of_the_childs_own_passes_through(fake, collect):
    events, _ = collect(
        fake("say('error', what='torch is not installed', way_out='make drill'); sys.exit(1)")
    )
    assert events == [Failed("torch is not installed", "make drill")]


def test_a_child_that_hangs_meets_the_limit(fake, collect, assert_gone):
    events, _ = collect(fake(f"start(); {FOREVER}"), limit_seconds=0.7)
    assert events[-1] == Failed("fake took longer than 0.7 s", "choose a smaller size")
    assert_gone()


def test_endless_chatter_meets_the_limit_too(fake, collect, assert_gone):
    events, log = collect(fake("start()\nwhile True: print('chatter')"), limit_seconds=0.7)
    assert events[-1] == Failed("fake took longer than 0.7 s", "choose a smaller size")
    assert log == ("chatter",) * 200
    assert_gone()


def test_a_flood_on_stderr_keeps_the_last_200_lines(fake, collect):
    events, log = collect(
        fake("""
        start()
        for number in range(100_000): print("line", number, file=sys.stderr)
        result()
    """)
    )
    assert [type(event) for event in events] == [Started, Result]
    assert log == tuple(f"line {number}" for number in range(99_800, 100_000))


def test_a_flood_on_stdout_leaves_others_their_turn(fake):
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def follow(launcher: Launcher) -> tuple[int, tuple[str, ...]]:
        ticking = asyncio.create_task(tick())
        async with Run(launcher, "fake", {}, "auto") as run:
            before = turns
            async for event in run:
                if isinstance(event, Started):
                    before = turns
            ticking.cancel()
            return turns - before, run.log

    taken, log = asyncio.run(
        follow(
            fake("""
        start()
        sys.stdout.write("".join(f"line {number}\\n" for number in range(100_000)))
        result()
    """)
        )
    )
    assert log[-1] == "line 99999"
    assert len(log) == 200
    # A million bytes in chunks of at most 64 KiB: others had a turn between any two of them.
    assert taken >= 1_000_000 // 65_536


def test_progress_that_is_overtaken_is_left_out(fake, collect):
    events, _ = collect(
        fake("""
        line = json.dumps({"v": 1, "event": "progress", "done": 0, "total": 99_999})
        sys.stdout.write("".join(line.replace(": 0", f": {n}") + "\\n" for n in range(100_000)))
        sys.stdout.flush()
        result()
    """)
    )
    steps = [event.done for event in events if isinstance(event, Progress)]
    assert steps == sorted(steps)
    assert steps[-1] == 99_999
    assert len(steps) < 1_000
    assert isinstance(events[-1], Result)


def test_too_many_rows_end_the_run(fake, collect, assert_gone):
    events, _ = collect(
        fake("""
        while True: say("row", name="x" * 4000, measured=1)
    """)
    )
    assert events[-1] == Failed("fake sent more than 4 MiB of rows", "choose a smaller size")
    assert sum(len(event.name) for event in events[:-1]) <= 4 * 1024 * 1024
    assert_gone()


def test_bytes_of_some_kind_are_no_last_words(fake, collect):
    events, _ = collect(fake("sys.stdout.buffer.write(bytes(range(128, 256)) * 20)"))
    assert events[-1].what == "fake ended with exit code 0 and without a result"
    events, _ = collect(
        fake("sys.stdout.buffer.write('naïve: Ünicode'.encode('latin-1') + b' is quoted all the same')")
    )
    assert events[-1].what.endswith("is quoted all the same")


def test_garbage_goes_to_the_log_and_hurts_nothing(fake, collect):
    events, log = collect(
        fake(r"""
        out = sys.stdout.buffer
        out.write(b"\x1b[2J\x1b]0;title\x07hello\n\xff\xfe\n{}\n[]\nnull\n\n")
        out.write(b'{"v": 1, "event": "row", "name": "half')
        out.flush(); time.sleep(0.05)
        out.write(b' a row", "measured": 1}\r\n')
        out.write(b"x" * 1_000_000 + b"\n")
        out.write(b'{"v": 1, "event": "result", "verdict": "confirmed"}')
        out.flush()
    """)
    )
    assert [type(event) for event in events] == [Row, Result]
    assert events[0].name == "half a row"
    assert log[:5] == ("hello", "\ufffd\ufffd", "{}", "[]", "null")
    assert log[5] == "x" * 500
    assert len(log) == 6


def test_a_line_that_overwrites_itself_shows_its_last_state(fake, collect):
    _, log = collect(fake(r'sys.stderr.write("10 %\r50 %\r100 %\r\ndone"); sys.stderr.flush(); result()'))
    assert log == ("100 %", "done")


def test_the_first_outcome_stands(fake, collect):
    events, _ = collect(
        fake(
            "result(measured=1); say('row', name='late', measured=2)\n"
            "result(measured=3); say('error', what='too late')"
        )
    )
    assert [type(event) for event in events] == [Result, Row]
    assert events[0].measured == 1


def test_a_result_before_the_start_is_taken(fake, collect):
    events, _ = collect(fake("result(); start()"))
    assert [type(event) for event in events] == [Result, Started]


def test_a_child_that_lingers_after_its_result_is_sent_away(fake, collect, assert_gone):
    events, _ = collect(fake(f"start(); result(); {FOREVER}"))
    assert [type(event) for event in events] == [Started, Result]
    assert_gone()


def test_a_child_that_closes_stdout_and_lives_on(fake, collect, assert_gone):
    events, _ = collect(fake(f"start(); os.close(1); {FOREVER}"))
    assert events[-1] == Failed("fake closed its output without a result", "run it again")
    assert_gone()


GRANDCHILD = "subprocess.Popen([sys.executable, '-c', {!r}])"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


@pytest.mark.parametrize("last", ["result()", "os._exit(3)", f"result(); {FOREVER}"])
def test_grandchildren_go_too(fake, collect, assert_gone, last):
    collect(fake(f"start(); other = {GRANDCHILD.format(STUBBORN)}; note('grandchild', other.pid); {last}"))
    assert_gone("pid", "grandchild")


def test_a_stray_that_left_the_group_and_holds_the_pipe_does_not_hold_us(fake, collect, noted):
    launcher = fake("""
        sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
        other = subprocess.Popen(sleep, start_new_session=True)
        note("stray", other.pid); start(); os._exit(4)
    """)
    events, _ = collect(launcher)
    os.kill(int(noted("stray")), signal.SIGKILL)
    assert events[-1].what == "fake ended with exit code 4 and without a result"


async def _started(run: Run) -> None:
    async for event in run:
        assert isinstance(event, Started)
        return


@pytest.mark.parametrize("extra", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_cancelling_the_task_ends_the_child(fake, assert_gone, extra):
    async def follow(launcher: Launcher, ready: asyncio.Event) -> None:
        async with Run(launcher, "fake", {}, "auto") as run:
            async for _ in run:
                ready.set()

    async def cancel(launcher: Launcher) -> None:
        ready = asyncio.Event()
        task = asyncio.create_task(follow(launcher, ready))
        await asyncio.wait_for(ready.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel(fake(f"{extra}\nstart(); {FOREVER}")))
    assert_gone()


def test_a_child_that_no_signal_reaches_learns_it_from_stdin(fake, noted):
    async def leave(launcher: Launcher) -> None:
        async with Run(launcher, "fake", {}, "auto") as run:
            await _started(run)

    asyncio.run(
        leave(
            fake("""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        start(); sys.stdin.buffer.read(); note("farewell", "stdin closed")
    """)
        )
    )
    assert noted("farewell") == "stdin closed"


def test_a_second_cancellation_only_makes_it_quicker(fake, assert_gone):
    async def follow(launcher: Launcher, ready: asyncio.Event) -> None:
        async with Run(launcher, "fake", {}, "auto") as run:
            await _started(run)
            ready.set()
            await asyncio.sleep(600)

    async def cancel_twice(launcher: Launcher) -> None:
        ready = asyncio.Event()
        task = asyncio.create_task(follow(launcher, ready))
        await asyncio.wait_for(ready.wait(), 20)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_twice(fake(f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\nstart(); {FOREVER}")))
    assert_gone()


def test_leaving_the_block_early_ends_the_child(fake, assert_gone):
    async def leave(launcher: Launcher) -> None:
        async with Run(launcher, "fake", {}, "auto") as run:
            await _started(run)

    asyncio.run(leave(fake(f"start(); {FOREVER}")))
    assert_gone()


def test_an_exception_in_the_block_ends_the_child(fake, assert_gone):
    async def stumble(launcher: Launcher) -> None:
        async with Run(launcher, "fake", {}, "auto") as run:
            await _started(run)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(stumble(fake(f"start(); {FOREVER}")))
    assert_gone()


WATCHES_STDIN = """
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
"""


def test_a_child_that_watches_stdin_survives_not_even_our_sigkill(fake, tmp_path, noted, assert_gone):
    launcher = fake(f"{WATCHES_STDIN}\nstart(); {FOREVER}")
    parent = tmp_path / "parent.py"
    parent.write_text(
        textwrap.dedent(f"""
        import asyncio
        from fatutor.demo.launcher import Launcher
        from fatutor.demo.run import Run
        async def follow():
            async with Run(Launcher({launcher.argv!r}, {dict(launcher.env)!r}), "fake", {{}}, "auto") as run:
                async for _ in run: pass
        asyncio.run(follow())
    """)
    )
    # Nobody is left to remove the run's folder: let it be made where pytest tidies up.
    environ = {**os.environ, "PYTHONPATH": _root(), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, str(parent)], env=environ) as process:
        noted("pid")
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert_gone()


def _root() -> str:
    return str(Path(__file__).parents[2])


def test_a_program_that_is_not_there(collect):
    with pytest.raises(
        FatutorError, match="/no/such/program could not be started: No such file or directory;"
    ):
        collect(Launcher(("/no/such/program",)))


def test_the_local_kernels_are_those_under_the_root(collect, tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "__main__.py").write_text("raise SystemExit('these are mine')")
    (tmp_path / "kernels" / "__init__.py").touch()
    events, _ = collect(local(tmp_path, {}))
    assert events[-1].what.endswith("these are mine")


@pytest.mark.parametrize(
    ("demo", "device"), [("--help", "auto"), ("a b", "auto"), ("", "cpu"), ("fake", "tpu")]
)
def test_names_that_no_command_line_should_carry(demo, device):
    with pytest.raises(FatutorError):
        Run(Launcher(("true",)), demo, {}, device)


def test_parameter_names_are_checked_too():
    with pytest.raises(FatutorError, match="is not a name"):
        Run(Launcher(("true",)), "fake", {"--device": "cuda"}, "auto")


def test_the_local_launcher_puts_its_kernels_first_and_keeps_the_rest(tmp_path):
    launcher = local(tmp_path, {"PYTHONPATH": "/cluster/torch", "HOME": "/home/me"})
    assert launcher.listing() == [sys.executable, "-m", "kernels", "list", "--json"]
    assert launcher.env["PYTHONPATH"] == f"{tmp_path}{os.pathsep}/cluster/torch"
    assert launcher.env["HOME"] == "/home/me"
