"""``python -m warpfile.compile``: the golden models as compiled code, see :mod:`warpfile.compiled`.

Without a C compiler, or where compilation fails, one line says so and they run as plain Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

from warpfile import tools
from warpfile.compiled import LIBRARY, folders, home, key, unused
from warpfile.once import once

#: Compiled beside all of ``golden``: what a model, its environment and a lockstep run's stream need in every cycle.
HOT = {
    "spec": (
        *(
            "beat",
            "channel",
            "cta_dispatcher",
            "dual_issue",
            "environment",
            "execution",
            "fetch",
            "front_end",
            "memory",
            "stimulus",
            "timing",
            "values",
        ),
    ),
    "sim": ("records", "stimulus"),
}
#: What runs in a process of its own, among copies of the packages. A C file per module takes 0.6 of the time of one of
#: 74 MB for all. -O0 saves a third of what -O1 takes, and runs 2.5 times slower; -O2 and hidden symbols, which a call
#: reaches directly, run 1.05 to 1.08 times faster. setuptools would compile the files of one library one after the
#: other, and all modules are one library: here every processor has one, the largest first.
_BUILD = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from mypyc.build import mypycify
from setuptools import setup
from setuptools.command.build_ext import build_ext

class Parallel(build_ext):
    def build_extensions(self):
        alone, pool = self.compiler.compile, ThreadPoolExecutor(os.cpu_count())
        def compile(sources, **options):
            order = sorted(sources, key=lambda source: -Path(source).stat().st_size)
            objects = dict(zip(order, pool.map(lambda source: alone([source], **options), order)))
            return [made for source in sources for made in objects[source]]
        self.compiler.compile = compile
        self.parallel = os.cpu_count()
        super().build_extensions()

modules = mypycify(sys.argv[2:], opt_level="2", multi_file=True, group_name=sys.argv[1])
for module in modules:
    module.extra_compile_args = [*module.extra_compile_args, "-fvisibility=hidden"]
setup(name="compiled", packages=[], ext_modules=modules, cmdclass={"build_ext": Parallel},
      script_args=["--quiet", "build_ext", "--build-lib=lib"])
"""
#: What is said where they are compiled.
_DOING = "compiling the golden models"


class CompilationError(Exception):
    """Why the models cannot be compiled, in a line."""


def main() -> None:
    """Compile unless the present sources are compiled already, and say how the models run."""
    try:
        place = compiled()
    except (CompilationError, OSError) as error:
        print(f"golden models run as plain Python: {error}", file=sys.stderr)
    else:
        print(f"golden models run as compiled code: {place}")


def compiled() -> Path:
    """Folder of the modules compiled from the present sources. Raises :class:`CompilationError`.

    Processes that ask at once compile once.
    """
    if (found := _kept()) is not None:
        return found
    _check()
    return once(home() / "lock", _DOING, "about a minute of processor time", _kept, _made)


def _kept() -> Path | None:
    """What was compiled from the sources as they are."""
    place = home() / key(folders())
    return place if place.is_dir() else None


def _check() -> None:
    """Refuse what cannot succeed. Raises :class:`CompilationError`."""
    for name in ("cc", "Python.h"):
        if tools.find(name) is None:
            raise CompilationError(tools.missing(name))


def _made() -> Path:
    """Compile them, while no other process does."""
    with tempfile.TemporaryDirectory(dir=home(), prefix="making-") as name:
        stage = Path(name)
        # What is hashed is what is compiled, whatever happens to the sources meanwhile.
        copies = {package: stage / "warpfile" / package for package in folders()}
        for package, folder in folders().items():
            shutil.copytree(folder, copies[package], ignore=lambda _, names: [n for n in names if n == "__pycache__"])
        (stage / "warpfile" / "__init__.py").touch()
        _compile(stage, _sources(copies, stage))
        return _keep(stage, home() / key(copies))


def _sources(packages: Mapping[str, Path], stage: Path) -> list[str]:
    chosen = [path for path in sorted(packages["golden"].rglob("*.py")) if path.name != "__init__.py"]
    named = (packages[package] / f"{name}.py" for package, names in HOT.items() for name in names)
    chosen += [path for path in named if path.is_file()]
    return [str(path.relative_to(stage)) for path in chosen]


def _compile(stage: Path, sources: list[str]) -> None:
    name = LIBRARY.removesuffix("__mypyc")
    command = [sys.executable, "-c", _BUILD, name, *sources]
    done = subprocess.run(command, cwd=stage, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        wrong = next((line for line in lines if "error" in line.lower()), lines[-1])
        raise CompilationError(f"the compilation fails ({wrong.strip()})")


def _keep(stage: Path, place: Path) -> Path:
    """Put the modules side by side, all at once, and forget those of other sources that no process runs."""
    made, library = stage / "made", stage / "lib"
    made.mkdir()
    for path in library.rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"):
        path.rename(made / ".".join(path.relative_to(library).parts))
    for other in home().iterdir():
        if other.is_dir() and other not in (stage, place) and (free := unused(other)):
            shutil.rmtree(other, ignore_errors=True)
            os.close(free)
    if not place.is_dir():  # the sources changed back meanwhile
        made.rename(place)
    return place


if __name__ == "__main__":
    main()
