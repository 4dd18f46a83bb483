"""Write maps and annotators' truths in the forms that other tools read too."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecritic.atomic import replace_file
from edgecritic.datasets.content import PathLike
from edgecritic.datasets.formats import formats
from edgecritic.datasets.formats.base import find_format
from edgecritic.datasets.formats.pictures import save_png
from edgecritic.errors import DataError, InputError
from edgecritic.geometry import Geometry
from edgecritic.inputs import as_array, as_mask

__all__ = ["write_map", "write_image", "write_bsds_mat", "bsds_mat_bytes", "UndatedZip"]

_MAT_TEXT = b"MATLAB 5.0 MAT-file".ljust(116)


def write_map(path: PathLike, array: Any, *, bits: int = 8, geometry: Geometry | None = None) -> Path:
    """Write a binary or soft map as ``.png``, ``.npy``, ``.nii`` or ``.nii.gz`` and return its path.

    Parameters
    ----------
    path : path
        The ending decides. Missing folders are made.
    array : array_like
        Booleans become 0/255; floats in [0, 1] become round(255 · value), or round(65535 · value).
        ``.npy`` keeps the array as it is; NIfTI too, booleans as 0/1.
    bits : {8, 16}
        Depth of a ``.png`` file.
    geometry : Geometry, optional
        Where the voxels of a volume lie; NIfTI keeps it. Without it voxels have size 1 and no place.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from edgecritic.datasets.files import read_strength
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_strength(write_map(folder + "/a.png", np.array([[0.0, 0.2, 1.0]])))
    array([[0. , 0.2, 1. ]])
    """
    file = Path(path)
    found = find_format(file)
    if found is None or (found.info.write or found.info.write_volume) is None:
        able = [one.info.suffixes for one in formats if one.info.write or one.info.write_volume]
        raise DataError(f"maps are written as {' or '.join(sorted(sum(able, ())))}", path=file)
    values = as_array(array)
    try:
        with replace_file(file) as stream:
            if found.info.write is not None:
                found.info.write(stream, values, bits)
            elif found.info.write_volume is not None:
                known = geometry or Geometry.of_spacing((1.0,) * values.ndim, values.shape)
                found.info.write_volume(stream, values, known, file.suffix.lower() == ".gz")
    except InputError as error:
        error.at(file)
        raise
    return file


def write_image(path: PathLike, image: NDArray[Any]) -> Path:
    """Write a grey or colour image with values in [0, 1] as an 8-bit ``.png``; others are clipped."""
    file = Path(path)
    with replace_file(file) as stream:
        save_png(stream, np.clip(image, 0.0, 1.0), 8)
    return file


def write_bsds_mat(path: PathLike, truths: Sequence[Any]) -> Path:
    """Write annotators' maps as a BSDS truth file (MATLAB 5, compressed) and return its path.

    The file holds ``groundTruth``, a 1 × K cell array of structs with the field ``Boundaries`` (uint8,
    0/1), which the classic benchmark programs read. Equal maps give equal bytes.
    """
    file = Path(path)
    if file.suffix.lower() != ".mat":
        raise DataError("a BSDS truth file must end with .mat", path=file)
    content = bsds_mat_bytes(truths)
    with replace_file(file) as stream:
        stream.write(content)
    return file


def bsds_mat_bytes(truths: Sequence[Any]) -> bytes:
    """Return the content of the file that `write_bsds_mat` writes."""
    from scipy.io import savemat

    maps = [as_mask(truth, f"truth {number}") for number, truth in enumerate(truths, start=1)]
    if not maps or len({found.shape for found in maps}) != 1:
        raise InputError("truths must be one or more maps of one shape")
    cells = np.empty((1, len(maps)), dtype=object)
    for index, found in enumerate(maps):
        cells[0, index] = {"Boundaries": found.astype(np.uint8)}
    stream = io.BytesIO()
    savemat(stream, {"groundTruth": cells}, do_compression=True)
    # SciPy writes the time of day into the text that begins the file.
    return _MAT_TEXT + stream.getvalue()[len(_MAT_TEXT) :]


class UndatedZip(zipfile.ZipFile):
    """A zip file of members without the time of their making: equal members give equal bytes."""

    def writestr(
        self,
        zinfo_or_arcname: str | zipfile.ZipInfo,
        data: Any,
        compress_type: int | None = None,
        compresslevel: int | None = None,
    ) -> None:
        """Add a member; one that is given by its name gets the oldest date that the format knows."""
        if isinstance(zinfo_or_arcname, str):
            zinfo_or_arcname = self._undated(zinfo_or_arcname)
        super().writestr(zinfo_or_arcname, data, compress_type, compresslevel)

    def write_parts(self, name: str, parts: Iterable[str]) -> None:
        """Add a member of text whose parts are never in memory all at once."""
        with self.open(self._undated(name), "w", force_zip64=True) as stream:
            for part in parts:
                stream.write(part.encode())

    def _undated(self, name: str) -> zipfile.ZipInfo:
        made = zipfile.ZipInfo(name)
        made.create_system = 3
        made.external_attr = 0o644 << 16
        made.compress_type = self.compression
        return made
