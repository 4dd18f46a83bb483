"""Data sets and files: readers, layouts, the input doctor, and the embedded synthetic data set.

The public names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgecritic.lazy import attach

if TYPE_CHECKING:
    from edgecritic.datasets.cases import Case as Case
    from edgecritic.datasets.cases import Dataset as Dataset
    from edgecritic.datasets.cases import find_cases as find_cases
    from edgecritic.datasets.content import Content as Content
    from edgecritic.datasets.content import read_content as read_content
    from edgecritic.datasets.doctor import Diagnosis as Diagnosis
    from edgecritic.datasets.doctor import Finding as Finding
    from edgecritic.datasets.doctor import check_case as check_case
    from edgecritic.datasets.doctor import diagnose as diagnose
    from edgecritic.datasets.files import Volume as Volume
    from edgecritic.datasets.files import read_array as read_array
    from edgecritic.datasets.files import read_candidates as read_candidates
    from edgecritic.datasets.files import read_class_strength as read_class_strength
    from edgecritic.datasets.files import read_classes as read_classes
    from edgecritic.datasets.files import read_geometry as read_geometry
    from edgecritic.datasets.files import read_hierarchy as read_hierarchy
    from edgecritic.datasets.files import read_image as read_image
    from edgecritic.datasets.files import read_mask as read_mask
    from edgecritic.datasets.files import read_segmentations as read_segmentations
    from edgecritic.datasets.files import read_spacing as read_spacing
    from edgecritic.datasets.files import read_strength as read_strength
    from edgecritic.datasets.files import read_truths as read_truths
    from edgecritic.datasets.files import read_volume as read_volume
    from edgecritic.datasets.geometry import Geometry as Geometry
    from edgecritic.datasets.geometry import on_grid_of as on_grid_of
    from edgecritic.datasets.layouts import find_maps as find_maps
    from edgecritic.datasets.layouts import find_truths as find_truths
    from edgecritic.datasets.meshes import read_mesh as read_mesh
    from edgecritic.datasets.rasters import Raster as Raster
    from edgecritic.datasets.rasters import open_raster as open_raster
    from edgecritic.datasets.rasters import raster_pixels as raster_pixels
    from edgecritic.datasets.write import write_bsds_mat as write_bsds_mat
    from edgecritic.datasets.write import write_image as write_image
    from edgecritic.datasets.write import write_map as write_map

_HOMES = {
    **dict.fromkeys(("Case", "Dataset", "find_cases"), "cases"),
    **dict.fromkeys(("Content", "read_content"), "content"),
    **dict.fromkeys(("Diagnosis", "Finding", "check_case", "diagnose"), "doctor"),
    **dict.fromkeys(("Volume", "read_array", "read_image", "read_mask", "read_segmentations"), "files"),
    **dict.fromkeys(
        ("read_candidates", "read_hierarchy", "read_spacing", "read_strength", "read_truths", "read_volume"),
        "files",
    ),
    **dict.fromkeys(("Geometry", "on_grid_of"), "geometry"),
    "read_geometry": "files",
    **dict.fromkeys(("read_class_strength", "read_classes"), "files"),
    **dict.fromkeys(("find_maps", "find_truths"), "layouts"),
    "read_mesh": "meshes",
    **dict.fromkeys(("Raster", "open_raster", "raster_pixels"), "rasters"),
    **dict.fromkeys(("write_bsds_mat", "write_image", "write_map"), "write"),
}

__all__ = list(_HOMES)

__getattr__, __dir__ = attach(__name__, _HOMES)
