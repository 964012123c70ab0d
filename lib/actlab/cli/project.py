"""`actlab init`: a project of one's own, where records, data and cache lie outside of actlab's checkout."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from actlab import paths
from actlab.cli.shared_options import console
from actlab.errors import BadInput
from actlab.files import write_bytes, write_text

app = typer.Typer()
TEMPLATE = Path(__file__).with_name("template")
"""What a new project holds."""
SAID = "A project of actlab: records go to results/ beside this file.\n"


@app.command()
def init(
    folder: Annotated[Path, Argument(help="Folder of the project; the current one unless given.")] = Path(),
) -> None:
    """Make a project of your own: params/, results/, a notebook and a README. Nothing that is there is replaced."""
    root = paths.located(str(folder))
    if root == paths.CHECKOUT:
        raise BadInput(f"{root} is actlab's own checkout, which is a project: `actlab run params/repro-quick.yaml`")
    (root / "results").mkdir(parents=True, exist_ok=True)
    for path in sorted(TEMPLATE.rglob("*.*")):
        copy = root / path.relative_to(TEMPLATE)
        if copy.exists():
            console.print(f"{paths.shown(copy)}: left as it is")
        else:
            write_bytes(copy, path.read_bytes())
    write_text(root / paths.MARK, SAID)  # last: it is a project now
    change_folder = "" if root == Path.cwd() else f"cd {paths.shown(root)} && "
    console.print(f"{root} is a project; go on with: {change_folder}actlab run params/first.yaml")
