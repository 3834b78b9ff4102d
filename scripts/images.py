"""Makes the images that the docker engine can run languages in: coderunner/<language>.

    scripts/images.py                    one for each language
    scripts/images.py python c           these
    scripts/images.py --all              coderunner/all, which has every language
    scripts/images.py --service          coderunner/service, by what deploy/Dockerfile says
    scripts/images.py --dockerfile …     by images/Dockerfile, where a registry can be reached

Without --dockerfile no registry is asked: Debian's packages are put together by mmdebstrap, and the
result is imported. Which packages a language needs is told by its file. As root.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from coderunner.language import Language, Languages

RECIPES = Path(__file__).parent.parent / "images"
ALL = "all"
SUITE = "bookworm"
# What nobody reads in a container.
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/locale/*")


def packages(languages: Iterable[Language]) -> list[str]:
    names = (name for one in languages for tool in one.tools for name in tool.apt.split())
    return sorted(set(names))


def import_from_debian(
    tag: str,
    names: Sequence[str],
    hooks: Callable[[Path], Sequence[str]] = lambda folder: (),
    instructions: Sequence[str] = ('CMD ["/bin/sh"]',),
) -> None:
    with tempfile.TemporaryDirectory(prefix="coderunner-image-") as folder:
        archive = f"{folder}/image.tar"
        included = f"--include={','.join(names)}"
        options = [*(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT), *hooks(Path(folder))]
        made = ["mmdebstrap", "--quiet", "--variant=minbase", included, *options, SUITE, archive]
        changes = (f"--change={instruction}" for instruction in instructions)
        imported = ["docker", "import", *changes, archive, tag]
        for command in (made, imported):
            if subprocess.run(command, check=False).returncode:
                sys.exit(f"{tag} could not be made")


def build(tag: str, names: Sequence[str]) -> None:
    argument = f"PACKAGES={' '.join(names)}"
    command = ["docker", "build", str(RECIPES), "--tag", tag, "--build-arg", argument]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"{tag} could not be built")


def import_service(names: Sequence[str]) -> None:
    sys.path.insert(0, str(RECIPES.parent))  # as a script we only see what lies beside us
    from scripts import service_image

    tag, packed = "coderunner/service", service_image.packages(names)
    print(f"{tag}: {' '.join(packed)}", file=sys.stderr)
    import_from_debian(tag, packed, service_image.hooks, service_image.instructions())


def main() -> None:
    parser = argparse.ArgumentParser(description="Make images for the docker engine.")
    parser.add_argument("languages", nargs="*", help="these languages only")
    parser.add_argument("--all", action="store_true", help="one image that has every language")
    parser.add_argument("--service", action="store_true", help="the one of the HTTP service")
    parser.add_argument("--dockerfile", action="store_true", help="build with docker build")
    asked = parser.parse_args()
    needed = ["docker"] if asked.dockerfile else ["docker", "mmdebstrap"]
    if missing := [name for name in needed if not shutil.which(name)]:
        sys.exit(f"there is no {missing[0]}\nhint: apt-get install docker.io mmdebstrap")
    known = Languages()
    if asked.service:
        import_service(packages([known.get(name) for name in asked.languages]))
        return
    chosen = [known.get(name) for name in asked.languages] or list(known)
    wanted = {ALL: packages(chosen)} if asked.all else {one.name: packages([one]) for one in chosen}
    make = build if asked.dockerfile else import_from_debian
    for name, names in wanted.items():
        print(f"coderunner/{name}: {' '.join(names)}", file=sys.stderr)
        make(f"coderunner/{name}", names)


if __name__ == "__main__":
    main()
