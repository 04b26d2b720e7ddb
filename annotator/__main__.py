"""Start the window or the command line: `goldsmith`, or `python -m annotator`."""

import gc
import os
import sys
from pathlib import Path


def main() -> int:
    """Open the window if no command, `--sample` or a file of ours is given; otherwise run the command."""
    lend_streams()
    if getattr(sys, "frozen", False) and len(sys.argv) > 1:
        # A bundled program starts its helper processes under its own name; here they branch off.
        from multiprocessing import freeze_support

        freeze_support()
    words = ["selftest", "--json"] if sys.argv[1:] == ["--selftest"] else sys.argv[1:]
    if not words or words == ["--sample"] or (len(words) == 1 and _is_ours(words[0])):
        # Nothing loaded is garbage; the window begins to collect when first idle.
        gc.disable()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from annotator.gui.shell.frame import appear

        # The frame is visible before anything that needs a project is loaded.
        frame = appear(project=bool(words))
        from annotator.gui.shell.start import run

        if words == ["--sample"]:
            return run(frame, with_sample=True)
        return run(frame, Path(words[0]) if words else None)
    # A command ends soon: it collects garbage less often.
    gc.set_threshold(20_000, 20, 50)
    from annotator.cli import run_command, saying
    from annotator.cli.saying import speak_everywhere

    speak_everywhere()
    sys.excepthook = saying.report
    return run_command(words)


def lend_streams() -> None:
    """Replace missing standard streams by the null device: Windows gives a windowed program none."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the program ends


def _is_ours(word: str) -> bool:
    """Whether a file's name is that of a project, a task or returned work."""
    return word.lower().removesuffix(".zip").endswith((".goldsmith", ".goldsmith-task", ".goldsmith-work"))


if __name__ == "__main__":
    sys.exit(main())
