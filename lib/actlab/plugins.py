"""A user's own activations, models, optimizers, texts and metrics: Python files that register them, known by the hash
of the file, sent to every worker, and tried on a tiny network before anything is trained."""

import functools
import hashlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from actlab import metrics, paths
from actlab.activations import ACTIVATIONS, Activation
from actlab.data import text as texts
from actlab.errors import ActlabError, BadInput, Table
from actlab.files import read_text
from actlab.models import MODELS, LanguageModel, Model, ModelConfig
from actlab.optimizers import OPTIMIZERS, Optimizer
from actlab.trainers.determinism import seed_globals
from actlab.trainers.seeds import init_streams

Parts = tuple[tuple[str, str], ...]
"""(kind, sha256) of the parts that are not built in, sorted."""
TABLES: dict[str, Table[Any]] = {
    "activation": ACTIVATIONS,
    "model": MODELS,
    "dataset": texts.TEXTS,
    "metric": metrics.ROWS,
    "optimizer": OPTIMIZERS,
}
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class PluginFile:
    """A plug-in file as it was read: every worker is sent this text, whatever happens to the file."""

    name: str
    """Its path, as it was given."""
    place: Path
    """Where it lay when it was read."""
    text: str

    @property
    def sha256(self) -> str:
        """Return the hash of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Part:
    """One of a user's own parts."""

    kind: str
    name: str
    file: PluginFile
    label: str = ""
    note: str = ""


PARTS: dict[tuple[str, str], Part] = {}
"""The registered parts by (kind, name)."""
RUNNING: list[PluginFile] = []
"""The plug-in file that is being run, if one is."""


# What a study asks.


def plugin_files() -> list[PluginFile]:
    """List the plug-in files that are loaded, in their order."""
    return list(dict.fromkeys(part.file for part in PARTS.values()))


def parts_of(**names: str) -> Parts:
    """Find what is not built in among parts named by their kind, ``activation="mine"``, each with the sha256 of its
    file (of a text: of its characters)."""
    hashes = {kind: PARTS[kind, name].file.sha256 for kind, name in names.items() if (kind, name) in PARTS}
    if "dataset" in names:
        hashes["dataset"] = texts.own_sha256(names["dataset"])
    return tuple(sorted((kind, sha256) for kind, sha256 in hashes.items() if sha256))


def find_part(kind: str, name: str, planned: str = "") -> Any:
    """Find the table's row of an activation, a model or an optimizer, where its name becomes an object.

    Raises:
        BadInput: it is not the one that was ``planned`` (or recorded): its hash, empty for a built-in one.
    """
    sha256 = dict(parts_of(**{kind: name})).get(kind, "")
    if sha256 != planned:
        raise BadInput(
            f"the {kind} {name!r} is not the one that was planned (hash {planned[:10] or 'none'}), but another (hash "
            f"{sha256[:10] or 'none'}): load the plug-in file that it came from (--plugin; actlab.load_plugins)"
        )
    return TABLES[kind][name]


def own_metrics(files: Iterable[str]) -> Parts:
    """Find a user's own metrics for a study that names these plug-in files: (name, sha256)."""
    places = {paths.located(file) for file in files}
    registered = [part for part in PARTS.values() if part.kind == "metric" and part.file.place in places]
    return tuple(sorted((part.name, part.file.sha256) for part in registered))


def described_metrics(metrics: Parts) -> dict[str, Any]:
    """Describe own metrics for a record: ``metrics``, name -> label and note, where there are any."""
    parts = [PARTS["metric", name] for name, _ in metrics]
    return {"metrics": {part.name: {"label": part.label, "note": part.note} for part in parts}} if parts else {}


def sources(parts: Parts) -> dict[str, Any]:
    """Describe own parts for a record's provenance, if it has any: ``plugins``, file -> source, hash."""
    used = {sha256 for _, sha256 in parts}
    files = [file for file in plugin_files() if file.sha256 in used]
    return {"plugins": {file.name: {"sha256": file.sha256, "source": file.text} for file in files}} if files else {}


# Files are read and run.


def load_plugins(files: Iterable[str]) -> None:
    """Read plug-in files and register their parts; a file that is loaded with this content already is left alone. A
    name with dots is a module of an installed package: ``actlab_audit.defects`` measures the published defects.

    Raises:
        BadInput: a file that cannot be read, or registers nothing.
    """
    for name in [files] if isinstance(files, str) else files:
        if re.fullmatch(r"\w+(\.\w+)+", name) and not name.endswith(".py"):
            import_module(name)
            continue
        place = paths.located(name)
        try:
            text = read_text(place)
        except OSError as error:
            raise BadInput(f"cannot read the plug-in {name} (seen from the current folder): {error}") from None
        execute(PluginFile(name, place, text))


def execute(file: PluginFile) -> None:
    """Run a plug-in and register its parts, in place of those that an earlier version of the file registered.

    Raises:
        BadInput: the file raises an error, which its line stands beside, or registers nothing.
    """
    if file in plugin_files():
        return
    _forget(file.place)
    module = ModuleType(f"actlab_plugin_{file.sha256}")
    module.__file__ = str(file.place)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    RUNNING.append(file)
    try:
        exec(compile(file.text, file.name, "exec"), module.__dict__)  # noqa: S102  # the user's own file
        if file not in plugin_files():
            raise BadInput(
                f"the plug-in {file.name} registers nothing: it may call actlab.register_activation, _model, "
                "_optimizer, _text or _metric"
            )
    except Exception as error:
        _forget(file.place)
        if isinstance(error, ActlabError):
            raise
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file.name]
        line = f", line {lines[-1]}" if lines else ""
        raise BadInput(f"the plug-in {file.name}{line}: {type(error).__name__}: {error}") from error
    finally:
        RUNNING.pop()


def _forget(place: Path) -> None:
    for part in [part for part in PARTS.values() if part.file.place == place]:
        del PARTS[part.kind, part.name], TABLES[part.kind][part.name]


# What a plug-in file calls.


def _also_as_decorator(register: Callable[..., None]) -> Callable[..., Any]:
    """Let ``register(name)`` without a thing be a decorator, which registers what it decorates and returns it."""

    @functools.wraps(register)
    def either(name: str, thing: Any = None, **details: Any) -> Any:
        if not RUNNING:
            raise BadInput(
                f"{name!r} belongs in a plug-in file, by whose source results know a part (in a notebook: a cell that "
                "begins with `%%writefile my_parts.py`): name the file in `plugins: [my_parts.py]`, with --plugin or "
                "in actlab.load_plugins"
            )
        if thing is None:
            return functools.partial(either, name, **details)
        register(name, thing, **details)
        return thing

    return either


def _add(kind: str, name: str, row: Any, **details: str) -> None:
    what = f"the {kind} {name!r}"
    if not NAME.fullmatch(name):
        raise BadInput(f"{what}: a name is a small letter and up to 39 small letters, digits and _")
    if before := PARTS.get((kind, name)):
        raise BadInput(f"{what} is already registered by {before.file.name}: choose another name")
    TABLES[kind][name] = row
    PARTS[kind, name] = Part(kind, name, RUNNING[-1], **details)


@_also_as_decorator
def register_activation(
    name: str, class_or_factory: Any, *, gated: bool = False, formula: str = "", source: str = ""
) -> None:
    """Add an activation to the table; also as a decorator, ``@actlab.register_activation("mine")``.

    Args:
        name: by which params files, notebooks and the command line call it; a built-in name is refused.
        class_or_factory: without arguments makes an ``nn.Module`` that maps (..., n) to (..., n), a gated one (...,
            2n), the gate first, to (..., n). If it takes ``features``, it is given n. A module that learns parameters
            has a method ``initialise(generator)`` that sets their start.
        gated: whether it multiplies two projections; models then give it both, at the plain arm's parameter count.
        formula: LaTeX.
        source: who defined it.

    Raises:
        BadInput: a name that is taken, a module of another shape, or a call outside of a plug-in file.
    """
    takes = "features" in inspect.signature(class_or_factory).parameters
    row, width = Activation(name, class_or_factory, formula, source, gated, takes), 8 if gated else 4
    module = row.make(features=4)
    learned = ", ".join(key for key, _ in module.named_parameters())
    if learned and not hasattr(module, "initialise"):
        raise BadInput(
            f"the activation {name!r} learns {learned}: give it a method initialise(generator) that sets their start"
        )
    shape = tuple(module(torch.linspace(-2, 2, 6 * width).view(2, 3, width)).shape)
    if shape != (2, 3, 4):
        raise BadInput(f"the activation {name!r} must map (2, 3, {width}) to (2, 3, 4), but gives {shape}")
    _add("activation", name, row)


@_also_as_decorator
def register_model(name: str, class_or_factory: Any, *, description: str = "", acts_in: str = "") -> None:
    """Add a language model to the table; also as a decorator.

    Args:
        name: as for an activation.
        class_or_factory: ``(config, activation, gated_width)`` -> ``actlab.models.LanguageModel``; ``activation`` is an
            entry of the table: ``activation.make(features=n)`` and ``actlab.models.layers.FeedForward`` make modules of
            it.
        description: what it is.
        acts_in: where its activation acts.
    """
    _add("model", name, Model(name, class_or_factory, description, acts_in))


@_also_as_decorator
def register_optimizer(name: str, class_or_factory: Any, *, rate: float | None = None, source: str = "") -> None:
    """Add an optimizer of language models to the table; also as a decorator.

    Args:
        name: as for an activation.
        class_or_factory: ``(params, lr=..., weight_decay=...)`` -> ``torch.optim.Optimizer`` over all of ``params``,
            whose ``step`` calls the closure that it is given and returns its loss, and reads the rate from its groups.
            If it takes ``betas``, it is given those of a study. What it draws is of the trial's seed.
            Its state is tensors, so that checkpoints hold it.
        rate: its usual learning rate; the default of its ``lr`` unless given.
        source: who defined it.

    Raises:
        BadInput: a name that is taken, an optimizer without these arguments, or a call outside of a plug-in file.
    """
    arguments = inspect.signature(class_or_factory).parameters
    usual = {key: one.default for key, one in arguments.items() if isinstance(one.default, int | float | tuple)}
    if rate is not None:
        usual["lr"] = rate
    if "weight_decay" not in arguments or "lr" not in usual:
        raise BadInput(
            f"the optimizer {name!r} must take (params, lr=..., weight_decay=...), with a default for lr, or rate=..."
        )

    def made(params: Any, generator: torch.Generator, **settings: Any) -> torch.optim.Optimizer:
        return class_or_factory(params, **settings)

    _add("optimizer", name, Optimizer(name, made, source, usual))


@_also_as_decorator
def register_text(name: str, function: Callable[[], str], *, description: str = "") -> None:
    """Add a character text to the table; also as a decorator. A file of text needs none of this: its path is its name.

    Args:
        name: as for an activation.
        function: without arguments gives the text, each time the same; called once in a process.
        description: what it is.
    """
    _add("dataset", name, functools.cache(function), note=description)


@_also_as_decorator
def register_metric(name: str, function: Any, *, label: str = "", note: str = "") -> None:
    """Add a metric, which enters every pair of the records written from now on, and the tables; also as a decorator.

    Args:
        name: as for an activation; no column of the tables.
        function: of two (N, V) tensors of probabilities of the same N inputs, some of all at a time; gives (N,), one
            value an input, whatever the others are. It changes neither.
        label: with unit and range, as tables and axes have it; the name unless given.
        note: what it means, and which direction is better.

    Raises:
        BadInput: a name that is taken; when it is computed, other than one value an input.
    """

    def rows(p: Tensor, q: Tensor) -> Tensor:
        values: Tensor = function(p, q)
        if values.shape != p.shape[:1]:
            raise BadInput(f"the metric {name!r} must give one value an input, (N,) for two (N, V) tensors")
        return values

    _add("metric", name, rows, label=label or name, note=note)


# Models and activations are tried on a tiny network.

TINY = ModelConfig(vocab_size=11, n_layer=2, n_embd=12, n_head=2, block_size=8, dropout=0.0)


def check_parts(cells: Iterable[tuple[str, str]]) -> None:
    """Try the cells, (model, activation), of which one is a user's own. What does not work at this size may do so at
    that of a study, and passes.

    Raises:
        BadInput: it gives NaN, its logits see later tokens or do not depend on the activation, or two networks of one
            seed differ.
    """
    for model, activation in sorted({*cells}):
        if ("model", model) in PARTS or ("activation", activation) in PARTS:
            fault = ""
            with suppress(Exception):
                fault = fault_of(model, ACTIVATIONS[activation])
            if fault:
                raise BadInput(f"{model} with {activation}: {fault}")


def tiny_network(model: str, activation: Activation) -> LanguageModel:
    """Make a tiny network, whose globally random parts are those of one seed."""
    seed_globals(1)
    network: LanguageModel = MODELS[model].factory(TINY, activation, "matched")
    network.initialise(init_streams(42))
    return network.eval()


@torch.no_grad()
def fault_of(model: str, row: Activation) -> str:
    """Find what is wrong with a model and its activation, if anything is: its shape, NaN, random numbers without
    a seed, an activation that is not reached, a model that sees the future."""
    tokens = torch.arange(2 * TINY.block_size).view(2, -1) * 7 % TINY.vocab_size  # (B, T)

    def shifted(**arguments: Any) -> nn.Module:
        module = row.factory(**arguments)
        module.register_forward_hook(lambda _, inputs, output: output + 0.5)
        return module

    network = tiny_network(model, row)
    logits, expected = network(tokens), (*tokens.shape, TINY.vocab_size)  # (B, T, V)
    if logits.shape != expected:
        return f"it gives logits of shape {tuple(logits.shape)} in place of (B, T, V), here {expected}"
    if not logits.isfinite().all():
        return "it gives NaN, or numbers beyond float32"
    if not logits.equal(tiny_network(model, row)(tokens)):
        return "two networks of one seed give two results: what is random in it needs torch's, NumPy's or Python's seed"
    if logits.equal(tiny_network(model, replace(row, factory=shifted))(tokens)):
        return "its logits do not depend on its activation"
    for t in range(TINY.block_size - 1):
        others = torch.where(torch.arange(TINY.block_size) > t, (tokens + 1) % TINY.vocab_size, tokens)
        if not logits[:, : t + 1].equal(network(others)[:, : t + 1]):
            return f"position {t} or before sees position {t + 1} or later: it would be given what it has to predict"
    return ""
