"""Many measures of one candidate at once: `score` against truths, `score_alone` without."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.errors import InputError
from edgecritic.geometry import judged
from edgecritic.grids import image_of, on_one_grid
from edgecritic.ids import Id
from edgecritic.inputs import SIDEWAYS, Spacing, as_distance, as_mask
from edgecritic.maps.mesh import Mesh
from edgecritic.maps.target import Target, as_target
from edgecritic.matching.base import with_tolerance
from edgecritic.measures import regions
from edgecritic.measures.base import MeasureInfo
from edgecritic.measures.base import measures as registry
from edgecritic.measures.evidence import Comparison, OnDegenerate, Single, check_policy
from edgecritic.measures.mesh import check_for_meshes, mesh_pairs
from edgecritic.registry import Bound
from edgecritic.tables import arrow, text_table
from edgecritic.values import Value, plain_number, plain_numbers

__all__ = [
    *("FAMILIES", "Scores", "score", "score_alone"),
    *("as_scores", "choose", "evaluate", "render", "default_measures", "with_own_tolerance", "worst_values"),
]

FAMILIES = (
    "confusion",
    "figures of merit",
    "distances",
    "surfaces",
    "volumes",
    "lesions",
    "correspondence",
    "regions",
    "without truth",
)

_BESIDE = {"hausdorff": ("hausdorff(percent=5)",), "sk": ("sk(k=2)",)}
"""Forms of a measure that the ground-truth paper prints beside it."""

Measures = str | Id | Iterable[str | Id] | None
BoundMeasure = Bound[MeasureInfo]


class Scores(Value, Mapping[str, float]):
    """The values of measures for one candidate: a mapping from ids to values.

    Attributes
    ----------
    measures : tuple of str
        The ids, such as ``baddeley(k=1)``.
    better : tuple of "lower" or "higher"
        The direction of good of each.
    families : tuple of str
    annotators : (truths, measures) float array
        The value of every measure against every truth; one row without truth.
    shape : tuple of int
        The shape of the maps as they were judged: two numbers are an image, three a volume.
    spacing : tuple of float or None
        The pixel size that was used; ``None`` if lengths are in pixels.
    notes : tuple of str
        What was done to bring images with a geometry onto one grid.

    Examples
    --------
    >>> found = score([[1, 1, 0]], [[[1, 1, 0]], [[1, 0, 0]]], "jaccard")
    >>> found["jaccard"], found.best["jaccard"]
    (0.75, 1.0)
    >>> dict(found)
    {'jaccard': 0.75}
    """

    measures: tuple[str, ...]
    better: tuple[str, ...]
    families: tuple[str, ...]
    annotators: NDArray[np.float64]
    shape: tuple[int, ...] = ()
    spacing: tuple[float, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> dict[str, float]:
        """The mean of every measure over the truths (the value itself if there is one)."""
        return self._row(self.annotators.mean(axis=0))

    @property
    def best(self) -> dict[str, float]:
        """The best value of every measure over the truths."""
        low, high = self.annotators.min(axis=0), self.annotators.max(axis=0)
        return self._row([high[i] if way == "higher" else low[i] for i, way in enumerate(self.better)])

    @property
    def per_annotator(self) -> list[dict[str, float]]:
        """The values against every truth."""
        return [self._row(row) for row in self.annotators]

    def __getitem__(self, measure: str | Id) -> float:
        """Return the mean over the truths of the measure with this id."""
        name = str(measure)
        if name not in self.measures:
            name = str(registry.bind(measure))
        if name not in self.measures:
            raise InputError(f"{name} was not computed; these were: {', '.join(self.measures)}")
        return self.mean[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __contains__(self, measure: object) -> bool:
        return measure in self.measures

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per measure: its value, and the best over the truths if there are several."""
        best = self.best if len(self.annotators) > 1 else None
        return [
            {
                "measure": name,
                "family": family,
                "better": way,
                "value": plain_number(value),
                **({} if best is None else {"best": plain_number(best[name])}),
            }
            for (name, value), family, way in zip(self.mean.items(), self.families, self.better, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return all values, ready for JSON: NaN is ``None``, infinity the word ``"inf"``."""
        shown: dict[str, Any] = {"scores": plain_numbers(self.mean)}
        if len(self.annotators) > 1:
            shown["best"] = plain_numbers(self.best)
            shown["annotators"] = [plain_numbers(row) for row in self.per_annotator]
        if self.shape:
            shown["judged"] = judged(self.shape, self.spacing)
        if self.notes:
            shown["notes"] = list(self.notes)
        return shown

    def __str__(self) -> str:
        """Return a table by family; arrows show the direction of good."""
        columns = {"mean": self.mean, "best": self.best} if len(self.annotators) > 1 else {"": self.mean}
        return render(self.measures, self.better, self.families, columns)

    def _row(self, values: Iterable[float]) -> dict[str, float]:
        return {name: float(value) for name, value in zip(self.measures, values, strict=True)}


def score(
    candidate: Any,
    truths: Any,
    measures: Measures = None,
    *,
    strategy: str | Id | None = None,
    tolerance: float | None = None,
    spacing: Spacing = None,
    empty_distance: float | None = None,
    on_degenerate: OnDegenerate = "value",
) -> Scores:
    """Compute measures of a candidate against one truth or several, with all evidence shared.

    Parameters
    ----------
    candidate : array_like, 2-D or 3-D; or an image of nibabel or SimpleITK
        A binary edge map; a label map for region measures (`pri`, `voi`, `covering`). Three axes are a
        volume, never a batch; `Scores.shape` tells what was judged.
    truths : array_like or such an image, or a list of them
        Maps of the same shape. A list of maps is several truths, of as many annotators. Images come with
        their geometry: axes are brought into the first truth's order, other grids are refused.
    measures : str or list of str, optional
        Ids such as ``"baddeley(k=1)"``; all that need no matching and no labels if not given.
    strategy : str, optional
        How pixels are matched, for all measures that have this parameter and do not name it in their id.
    tolerance : float, optional
        Largest distance of a match or of a right pixel, for all measures that have this parameter, or a
        strategy that has one, and do not name it in their id.
    spacing, empty_distance, on_degenerate
        As for `edgecritic.compare`.

    Returns
    -------
    Scores

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((10, 12), bool)
    >>> truth[4, 2:10] = True
    >>> found = score(np.roll(truth, 1, axis=0), truth, ["fom", "hausdorff"])
    >>> print(found)
    figures of merit
      fom              ↑ 0.9
    distances
      hausdorff        ↓ 1
    >>> dict(score(np.roll(truth, 1, axis=0), truth, ["f", "nsd"], strategy="exact", tolerance=2))
    {'f(strategy=exact(tolerance=2))': 1.0, 'nsd(tolerance=2)': 1.0}
    """
    chosen = choose(measures, default_measures(), strategy=strategy, tolerance=tolerance)
    check_policy(on_degenerate)
    several = as_maps(truths)
    meshes = mesh_pairs(candidate, several, spacing, on_degenerate)
    if meshes is not None:
        check_for_meshes(chosen)
        return as_scores(chosen, [[float(bound(pair)) for bound in chosen] for pair in meshes])
    candidate, several, spacing, notes = on_one_grid(candidate, several, spacing)
    kinds = {bound.entry.info.needs == "segmentation" for bound in chosen}
    if kinds == {True}:
        rows = [_region_row(candidate, truth, chosen) for truth in several]
        return as_scores(chosen, rows, shape=np.shape(candidate), notes=notes)
    if True in kinds:
        raise InputError(
            "region measures take label maps and the others binary maps; ask for one kind at a time"
        )
    own = as_target(candidate, "candidate", spacing, empty_distance)
    warned = False
    rows = []
    for number, truth in enumerate(several):
        name = "truth" if len(several) == 1 else f"truths[{number}]"
        comparison = pair_up(own, as_target(truth, name, spacing, empty_distance), on_degenerate)
        comparison.warned = warned
        rows.append(evaluate(chosen, comparison))
        warned = comparison.warned
    sizes = None if spacing is None else own.spacing
    return as_scores(chosen, rows, shape=own.mask.shape, spacing=sizes, notes=notes)


def score_alone(
    candidate: Any, measures: Measures = None, *, on_degenerate: OnDegenerate = "value"
) -> Scores:
    """Compute measures of a candidate without any truth.

    Parameters
    ----------
    candidate : array_like, 2-D or 3-D
        A binary edge map. Volumes have `entropy` only.
    measures : str or list of str, optional
        Ids such as ``"equilibrium(window=9)"``; all of this kind if not given.
    on_degenerate : "value", "nan" or "raise"
        What to do with a map that has no edge pixels.

    Examples
    --------
    >>> import numpy as np
    >>> print(score_alone(np.eye(21, dtype=bool), "entropy"))
    without truth
      entropy       ↑ 0.72619
    """
    candidate, *_ = on_one_grid(candidate, [])
    mask = as_mask(candidate, "candidate")
    check_policy(on_degenerate)
    single = Single(mask, on_degenerate=on_degenerate)
    own = ("equilibrium", "entropy", "complexity") if single.squeezed.ndim == 2 else ("entropy",)
    chosen = choose(measures, own)
    for bound in chosen:
        if bound.entry.info.needs != "candidate":
            raise InputError(f"{bound} needs a truth; use edgecritic.score(candidate, truth)")
    return as_scores(chosen, [[bound(single) for bound in chosen]], shape=mask.shape)


def default_measures(*, starred: bool = False) -> list[str]:
    """Return the ids computed when none are named, by family.

    With `starred` they are those of the ground-truth paper, as it prints them: complements stand in place of
    their similarities (``f_star`` for ``f``), and beside H and S¹ come H5 % and S².
    """
    entries = [entry for entry in registry if entry.info.default]
    entries = [entry for entry in entries if entry.info.needs not in ("candidate", "segmentation")]
    names = [entry.name for entry in sorted(entries, key=lambda entry: _family_rank(entry.info.family))]
    stars = {name.removesuffix("_star"): name for name in registry.names() if name.endswith("_star")}
    if not starred:
        return names
    return [one for name in names for one in (stars.get(name, name), *_BESIDE.get(name, ()))]


def choose(
    measures: Measures,
    default: Sequence[str],
    *,
    strategy: str | Id | None = None,
    tolerance: float | None = None,
) -> list[BoundMeasure]:
    """Read ids of measures, without repeats, and bind a common strategy and tolerance to them.

    Examples
    --------
    >>> [str(each) for each in choose(["f", "fom(strategy=eps)", "nsd"], (), strategy="exact", tolerance=2)]
    ['f(strategy=exact(tolerance=2))', 'fom(strategy=eps)', 'nsd(tolerance=2)']
    """
    ids = _parsed(default if measures is None else measures)
    if measures is not None and not ids:
        raise InputError("measures is empty; name at least one, or leave it out for all")
    if strategy is not None:
        ids = _bind_all(ids, "strategy", Id.parse(strategy), _with_strategy)
    if tolerance is not None:
        number = as_distance(tolerance, "tolerance")
        whole = int(number) if number.is_integer() else number
        ids = _bind_all(ids, "tolerance", whole, _with_tolerance)
    bound = [registry.bind(each) for each in ids]
    return list({str(each): each for each in bound}.values())


def _parsed(measures: Measures) -> list[Id]:
    given = [measures] if isinstance(measures, str | Id) else () if measures is None else measures
    return [Id.parse(text) for text in given]


def _bind_all(ids: list[Id], name: str, value: Any, bind: Callable[[Id, Any], Id]) -> list[Id]:
    """Return ids with a common parameter, which one of them at least must use."""
    changed = [bind(each, value) for each in ids]
    names = [str(each) for each in ids]
    if [str(each) for each in changed] == names:
        told = f"{', '.join(names[:5])}{', …' if len(ids) > 5 else ''}"
        raise InputError(f"{name} is used by none of the measures {told}; leave it out")
    return changed


def _with_strategy(measure: Id, strategy: Id) -> Id:
    known = "strategy" in registry.get(measure.name).parameters
    return measure.with_default("strategy", strategy) if known else measure


def _with_tolerance(measure: Id, tolerance: float) -> Id:
    if "tolerance" in registry.get(measure.name).parameters:
        return measure.with_default("tolerance", tolerance)
    strategy = measure.options.get("strategy")
    if not isinstance(strategy, str | Id):
        return measure
    options = {**measure.options, "strategy": with_tolerance(strategy, tolerance)}
    return Id(measure.name, tuple(options.items()))


def with_own_tolerance(
    chosen: Sequence[BoundMeasure], tolerance: float | None, given: Measures = None
) -> list[BoundMeasure]:
    """Bind a tolerance to the measures that have one and do not name it, one for one.

    `given` are the ids as they were written: an id that names the default value, which `chosen` leaves out,
    keeps it.

    Examples
    --------
    >>> written = ["nsd(tolerance=1)", "lesion_nsd"]
    >>> [str(each) for each in with_own_tolerance(choose(written, ()), 3, written)]
    ['nsd', 'lesion_nsd(tolerance=3)']
    """
    if tolerance is None:
        return list(chosen)
    named = {str(registry.bind(each)) for each in _parsed(given) if "tolerance" in each.options}
    return [
        bound if str(bound) in named else registry.bind(_with_tolerance(bound.id, tolerance))
        for bound in chosen
    ]


def worst_values(chosen: Sequence[BoundMeasure], diagonal: float) -> list[float]:
    """Return what measures are worth where there is nothing to judge.

    The bad end of the range, 0 for shares; of distances the diagonal of the image, or what the measure
    declares for an object that was missed if that is worse; else infinity.
    """
    infos = [bound.entry.info for bound in chosen]
    ends = [info.range[info.better == "lower"] for info in infos]
    return [
        _missed(bound, diagonal) if math.isinf(end) and bound.entry.info.units == "distance" else float(end)
        for end, bound in zip(ends, chosen, strict=True)
    ]


def _missed(bound: BoundMeasure, diagonal: float) -> float:
    """Return the distance of an object that was missed, at least the diagonal."""
    nothing, object_ = (Target(np.full((9, 9), value), (1.0, 1.0), diagonal) for value in (False, True))
    comparison = pair_up(nothing, object_, "value")
    comparison.warned = True  # the caller says what is missing
    try:
        return max(diagonal, float(bound(comparison)))  # the diagonal if a preset has NaN
    except InputError:  # a preset that refuses empty objects
        return diagonal


def evaluate(chosen: Sequence[BoundMeasure], comparison: Comparison) -> list[float]:
    """Compute measures of one comparison."""
    if any(bound.entry.info.needs == "transforms" for bound in chosen):
        _ = comparison.transforms  # whole-image transforms first: the lists are then cut out of them
    single = Single(comparison.candidate, on_degenerate=comparison.on_degenerate)
    alone = [bound.entry.info.needs == "candidate" for bound in chosen]
    single.warned = comparison.warned or not all(alone)  # one warning is enough
    values = [float(bound(single if own else comparison)) for bound, own in zip(chosen, alone, strict=True)]
    comparison.warned |= single.warned and single.count == 0
    return values


def pair_up(candidate: Target, truth: Target, on_degenerate: OnDegenerate) -> Comparison:
    """Make the comparison of two targets of one shape."""
    if candidate.mask.shape != truth.mask.shape:
        sideways = candidate.mask.shape == truth.mask.shape[::-1]
        raise InputError(
            "candidate and truth must have the same shape, got "
            f"{candidate.mask.shape} and {truth.mask.shape}; "
            f"{SIDEWAYS if sideways else 'several truths are given as a list'}"
        )
    return Comparison(candidate, truth, on_degenerate=on_degenerate)


def as_maps(truths: Any) -> list[Any]:
    """Return the truths as a list: a list of maps is several, anything else is one."""
    if isinstance(truths, Sequence) and len(truths) == 0:
        raise InputError("truths holds no map; give one or more")
    if isinstance(truths, Sequence) and all(_is_map(truth) for truth in truths):
        return list(truths)
    return [truths]


def _is_map(truth: Any) -> bool:
    """Tell whether something is a map by itself, and not a row of one."""
    return isinstance(truth, Mesh) or image_of(truth) is not None or np.ndim(truth) >= 2


def render(
    measures: Sequence[str],
    better: Sequence[str],
    families: Sequence[str],
    columns: Mapping[str, Mapping[str, float]],
) -> str:
    """Return values as a table by family, one line per measure; arrows show the direction of good."""
    rows = []
    for family in dict.fromkeys(families):
        rows.append([family, "", *columns])
        for name, way, own in zip(measures, better, families, strict=True):
            if own == family:
                rows.append(
                    [f"  {name}", arrow(way), *(f"{column[name]:.6g}" for column in columns.values())]
                )
    return text_table(rows)


def _family_rank(family: str) -> int:
    return FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)


def _region_row(segmentation: Any, truth: Any, chosen: Sequence[BoundMeasure]) -> list[float]:
    prepared = regions.prepare(segmentation, truth)
    return [float(bound(prepared)) for bound in chosen]


def as_scores(chosen: Sequence[BoundMeasure], rows: list[list[float]], **told: Any) -> Scores:
    """Return rows of values, one per truth, under the names of their measures; `told` are further fields."""
    values = np.array(rows, dtype=np.float64)
    values.flags.writeable = False
    return Scores(
        measures=tuple(str(bound) for bound in chosen),
        better=tuple(bound.entry.info.better for bound in chosen),
        families=tuple(bound.entry.info.family for bound in chosen),
        annotators=values,
        **told,
    )
