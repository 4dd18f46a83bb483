"""Files that are damaged, linked, far too large or odd: made anew by generators, for tests and benchmarks."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

REAL = 160 * 2**20
"""Bytes that the largest bombs which may be read really hold."""

CHECKED = (
    "grey.png", "bilevel.png", "palette.png", "colour16.png", "interlaced.png", "deflate.tif",
    "packed.npz", "stored.npz", "cells.mat", "soft.mat", "a.nii.gz", "two.nii.gz", "checked73.mat",
    "packed.nrrd", "packed.mha",
)  # fmt: skip
"""Names of the samples whose format keeps a checksum of all numbers."""


def samples(shape: tuple[int, int] = (19, 23), seed: int = 3) -> dict[str, bytes]:
    """Return one valid file of every kind, by name."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _write_samples(place, shape, np.random.default_rng(seed))
        return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def _write_samples(folder: Path, shape: tuple[int, int], rng: np.random.Generator) -> None:
    import nibabel
    import scipy.io
    import scipy.sparse
    from PIL import Image

    from edgecritic.datasets.write import write_bsds_mat

    mask = rng.random(shape) < 0.2
    grey = rng.integers(0, 256, shape).astype(np.uint8)
    for suffix in ("png", "jpg", "tif", "bmp", "pgm"):
        Image.fromarray(grey).save(folder / f"grey.{suffix}")
    Image.fromarray(grey).save(folder / "deflate.tif", compression="tiff_adobe_deflate")
    Image.fromarray(mask).save(folder / "bilevel.png")
    Image.fromarray(grey).convert("P").save(folder / "palette.png")
    deep = np.repeat(mask[..., None], 3, axis=2).astype(">u2")
    (folder / "colour16.png").write_bytes(png(deep, 16, 2))
    (folder / "interlaced.png").write_bytes(interlaced_png(grey))
    np.save(folder / "a.npy", mask)
    np.savez_compressed(folder / "packed.npz", one=mask, two=~mask)
    np.savez(folder / "stored.npz", one=mask, two=~mask)
    write_bsds_mat(folder / "cells.mat", [mask, ~mask])
    scipy.io.savemat(folder / "soft.mat", {"soft": grey / 255, "other": 1.0}, do_compression=True)
    cells = np.empty((1, 2), dtype=object)
    cells[0, :] = [{"Segmentation": grey, "Boundaries": mask}, {"Segmentation": grey, "Boundaries": mask}]
    scipy.io.savemat(folder / "plain.mat", {"groundTruth": cells, "text": "hello"})
    scipy.io.savemat(folder / "sparse.mat", {"m": scipy.sparse.csc_array(mask.astype(float))})
    voxels = mask[None].astype(np.uint8)
    nibabel.save(nibabel.Nifti1Image(voxels, np.eye(4)), folder / "a.nii.gz")
    nibabel.save(nibabel.Nifti2Image(voxels, np.eye(4)), folder / "a.nii")
    (folder / "two.nii.gz").write_bytes(two_members((folder / "a.nii").read_bytes()))
    for packed in (False, True):
        name = "packed" if packed else "stored"
        (folder / f"{name}.nrrd").write_bytes(nrrd(voxels, packed))
        (folder / f"{name}.mha").write_bytes(metaimage(voxels, packed))
    (folder / "a.seg").write_text("width 3\nheight 2\ndata\n0 0 0 2\n1 1 0 1\n2 1 2 2\n")
    _write_73(folder, grey)
    _write_dicom(folder, voxels)


def _write_dicom(folder: Path, voxels: np.ndarray) -> None:
    try:
        import pydicom  # noqa: F401
    except ImportError:  # an extra
        return
    dicom_dataset(voxels).save_as(folder / "a.dcm", enforce_file_format=True)


def dicom_dataset(voxels: np.ndarray):
    """Return a DICOM segmentation of one segment, as pydicom keeps it, a frame per plane."""
    from pydicom.dataset import Dataset, FileMetaDataset

    def item(**elements) -> Dataset:
        made = Dataset()
        for name, value in elements.items():
            setattr(made, name, value)
        return made

    kind = "1.2.840.10008.5.1.4.1.1.66.4"
    made = item(SOPClassUID=kind, SOPInstanceUID="1.2.3", SegmentationType="BINARY")
    made.file_meta = FileMetaDataset()
    made.file_meta.TransferSyntaxUID = "1.2.840.10008.1.2.1"
    made.file_meta.MediaStorageSOPClassUID, made.file_meta.MediaStorageSOPInstanceUID = kind, "1.2.3"
    made.NumberOfFrames, made.Rows, made.Columns = voxels.shape
    made.BitsAllocated = made.BitsStored = made.SamplesPerPixel = 1
    made.HighBit = made.PixelRepresentation = 0
    measures = item(PixelSpacing=[0.5, 0.7], SliceThickness=3, SpacingBetweenSlices=3)
    turned = item(ImageOrientationPatient=[1, 0, 0, 0, 1, 0])
    made.SharedFunctionalGroupsSequence = [
        item(PixelMeasuresSequence=[measures], PlaneOrientationSequence=[turned])
    ]
    made.PerFrameFunctionalGroupsSequence = [
        item(
            PlanePositionSequence=[item(ImagePositionPatient=[0, 0, 3.0 * plane])],
            SegmentIdentificationSequence=[item(ReferencedSegmentNumber=1)],
        )
        for plane in range(len(voxels))
    ]
    packed = np.packbits(voxels.astype(bool), bitorder="little").tobytes()
    made.add_new("PixelData", "OB", packed + b"\0" * (len(packed) % 2))
    return made


def dicom_scan(plane: int, turned: np.ndarray, seed: int):
    """Return one plane of a scan, as pydicom keeps it; 7 rows, 9 columns, 2.5 mm apart."""
    from pydicom.dataset import Dataset, FileMetaDataset

    made = Dataset()
    made.file_meta = FileMetaDataset()
    made.file_meta.TransferSyntaxUID = "1.2.840.10008.1.2.1"
    for name, value in {
        "SOPClassUID": "1.2.840.10008.5.1.4.1.1.2",
        "SOPInstanceUID": f"1.2.3.{seed}.{plane + 1}",
        "SeriesInstanceUID": f"1.2.4.{seed}",
        "StudyInstanceUID": f"1.2.5.{seed}",
        "FrameOfReferenceUID": f"1.2.6.{seed}",
        "Modality": "CT",
        "PatientName": "A^B",
        "PatientID": "a",
        "Rows": 7,
        "Columns": 9,
        "PixelSpacing": [0.5, 0.7],
        "SliceThickness": 2.5,
        "ImageOrientationPatient": [round(float(x), 10) for x in (*turned[:, 0], *turned[:, 1])],
        "ImagePositionPatient": [round(float(x), 9) for x in turned[:, 2] * 2.5 * plane + (9, -8, 7)],
        "InstanceNumber": plane + 1,
        **dict.fromkeys(("StudyID", "AccessionNumber", "StudyDate", "StudyTime"), ""),
        **dict.fromkeys(("PatientBirthDate", "PatientSex", "ReferringPhysicianName"), ""),
    }.items():
        setattr(made, name, value)
    return made


def _write_73(folder: Path, grey: np.ndarray) -> None:
    try:
        import h5py
    except ImportError:  # an extra
        return
    with h5py.File(folder / "plain73.mat", "w") as file:
        file["x"] = grey / 255
    with h5py.File(folder / "checked73.mat", "w", libver="v110") as file:
        file.create_dataset(
            "x", data=grey / 255, chunks=(10, 9), compression="gzip", shuffle=True, fletcher32=True
        )


def nrrd(voxels: np.ndarray, packed: bool = False, **more: str) -> bytes:
    """Return a NRRD file; `more` are further or other fields of its header."""
    fields = {
        "type": {"u1": "uchar", "i2": "short", "f4": "float", "f8": "double"}[voxels.dtype.str[1:]],
        "dimension": str(voxels.ndim),
        "sizes": " ".join(map(str, voxels.shape)),
        "endian": "little",
        "encoding": "gzip" if packed else "raw",
    }
    told = {**fields, **{name.replace("_", " "): value for name, value in more.items()}}
    head = "NRRD0005\n# made by hand\n" + "".join(f"{name}: {value}\n" for name, value in told.items())
    body = voxels.tobytes(order="F")
    return head.encode() + b"\n" + (gzip.compress(body, mtime=0) if packed else body)


def metaimage(voxels: np.ndarray, packed: bool = False, file: str = "LOCAL", **more: str) -> bytes:
    """Return a MetaImage file; `more` are further or other fields of its header."""
    kinds = {"u1": "UCHAR", "i2": "SHORT", "f4": "FLOAT", "f8": "DOUBLE"}
    body = voxels.tobytes(order="F")
    body = zlib.compress(body) if packed else body
    fields = {
        "ObjectType": "Image",
        "NDims": str(voxels.ndim),
        "BinaryData": "True",
        "BinaryDataByteOrderMSB": "False",
        "CompressedData": str(packed),
        **({"CompressedDataSize": str(len(body))} if packed else {}),
        "DimSize": " ".join(map(str, voxels.shape)),
        "ElementType": "MET_" + kinds[voxels.dtype.str[1:]],
        **more,
        "ElementDataFile": file,
    }
    head = "".join(f"{name} = {value}\n" for name, value in fields.items()).encode()
    return head + (body if file == "LOCAL" else b"")


def two_members(data: bytes) -> bytes:
    """Return a gzip file of two members, as programs that pack in parallel write them."""
    middle = len(data) // 2
    return gzip.compress(data[:middle], mtime=0) + gzip.compress(data[middle:], mtime=0)


def chunk(kind: bytes, body: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def raw_png(
    rows: int, columns: int, packed: bytes, depth: int = 8, colour: int = 0, interlaced: int = 0
) -> bytes:
    """Return a PNG file with any packed rows."""
    head = struct.pack(">IIBBBBB", columns, rows, depth, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def png(values: np.ndarray, depth: int = 8, colour: int = 0) -> bytes:
    """Return a PNG file of whole bytes per value, in big-endian order, without filters."""
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    return raw_png(*values.shape[:2], zlib.compress(rows), depth, colour)


def interlaced_png(grey: np.ndarray) -> bytes:
    """Return an 8-bit PNG file in seven passes (Adam7)."""
    steps = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    passes = (grey[top::down, left::right] for top, left, down, right in steps)
    rows = b"".join(b"\0" + row.tobytes() for part in passes if part.size for row in part)
    return raw_png(*grey.shape, zlib.compress(rows), interlaced=1)


def flipped(content: bytes, bit: int) -> bytes:
    """Return the content with one bit changed."""
    result = bytearray(content)
    result[bit // 8] ^= 1 << bit % 8
    return bytes(result)


def damaged(content: bytes, rng: np.random.Generator) -> Iterator[bytes]:
    """Yield truncations, flipped bits, overwritten words and inserted bytes of a valid file."""
    size = len(content)
    cuts = {0, 1, 7, 8, 100, 127, 128, 130, 136, 140, 200, *np.linspace(0, size - 1, 12).astype(int)}
    for cut in sorted(cuts):
        if cut < size:
            yield content[:cut]
    for bit in rng.integers(0, 8 * size, 40):
        yield flipped(content, int(bit))
    for position in rng.integers(0, min(size, 400), 40):
        for word in (b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f"):
            yield content[:position] + word + content[position + 4 :]
    yield content + rng.bytes(64)
    yield content[: size // 2] + rng.bytes(16) + content[size // 2 :]


def packed_zeros(size: int, start: bytes = b"") -> bytes:
    """Return `start` and `size` zero bytes, packed, without holding them in memory."""
    packer = zlib.compressobj(1)
    pieces = [packer.compress(start)]
    block = bytes(2**22)
    pieces += [packer.compress(block) for _ in range(size // len(block))]
    return b"".join([*pieces, packer.flush()])


def mat_of(size: int, shape: tuple[int, int], kind: int = 6, real: int = 2**22) -> bytes:
    """Return a compressed MATLAB file with one matrix of zeros that declares `size` bytes of data."""
    body = struct.pack("<IIII", 6, 8, kind, 0) + struct.pack("<IIii", 5, 8, *shape)
    body += struct.pack("<HHcxxx", 1, 1, b"x") + struct.pack("<II", {6: 9, 9: 2}[kind], size)
    start = struct.pack("<II", 14, (len(body) + size) % 2**32) + body
    packed = packed_zeros(real, start)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    return head + struct.pack("<II", 15, len(packed)) + packed


def npy_header(shape: tuple[int, ...], dtype: str = "|u1") -> bytes:
    """Return the start of a `.npy` file."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def bombs(folder: Path) -> None:
    """Write small files that claim, or unpack to, far more than they should."""
    import nibabel

    zeros = packed_zeros(64 * 2**20)
    (folder / "declared.png").write_bytes(raw_png(2**31 - 1, 2**31 - 1, zeros[:1000]))
    (folder / "large.png").write_bytes(raw_png(12000, 12000, zeros))
    (folder / "wide.png").write_bytes(raw_png(1, 2**30, zeros))
    (folder / "endless.png").write_bytes(raw_png(20, 20, zeros))
    (folder / "declared.npy").write_bytes(npy_header((2**40,)) + b"0")
    (folder / "negative.npy").write_bytes(npy_header((-5, 2**20)) + b"0")
    (folder / "overflow.npy").write_bytes(npy_header((2**33, 2**33), "<f8") + b"0")
    (folder / "declared.mat").write_bytes(mat_of(2**32 - 8, (2**15, 2**14)))
    (folder / "real.mat").write_bytes(mat_of(REAL, (4096, 5120), real=REAL))
    (folder / "bytes.mat").write_bytes(mat_of(REAL, (8192, 20480), kind=9, real=REAL))
    (folder / "lying.mat").write_bytes(mat_of(240 * 2**20, (8192, 3840)))
    (folder / "packed.mat").write_bytes(mat_of(400 * 2**20, (8192, 6400)))
    with zipfile.ZipFile(folder / "real.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in "abc":
            with archive.open(f"{name}.npy", "w") as member:
                member.write(npy_header((200 * 2**20,)))
                for _ in range(50):
                    member.write(bytes(2**22))
    head = nibabel.Nifti1Header()
    head.set_data_dtype(np.uint8)
    head.set_data_shape((32767, 32767, 32767))
    head["magic"] = b"n+1"
    (folder / "declared.nii.gz").write_bytes(gzip.compress(head.binaryblock + bytes(100)))
    head["vox_offset"] = 1e9
    (folder / "far.nii.gz").write_bytes(gzip.compress(head.binaryblock + bytes(100)))
    tiny = np.zeros((1, 1, 1), np.uint8)
    for sizes in ("32767 32767 32767", "99999999999999 1 1", "600 600 600"):
        name = f"declared{len(sizes)}"
        (folder / f"{name}.nrrd").write_bytes(nrrd(tiny, True, sizes=sizes))
        (folder / f"{name}.mha").write_bytes(metaimage(tiny, True, DimSize=sizes))
    (folder / "endless.mha").write_bytes(
        metaimage(tiny).replace(b"CompressedData = False", b"CompressedData = True")
    )
    with (folder / "endless.mha").open("ab") as stream:
        stream.write(zeros)
    (folder / "header.nrrd").write_bytes(b"NRRD0005\n" + b"# x\n" * 10**6)
    (folder / "header.mha").write_bytes(b"a = b\n" * 10**6)
    (folder / "declared.seg").write_text("width 2000000000\nheight 2000000000\ndata\n0 0 0 0\n")
    (folder / "sparse.npy").touch()
    os.truncate(folder / "sparse.npy", 60 * 10**9)
    _bombs_73(folder, zeros)


def _bombs_73(folder: Path, zeros: bytes) -> None:
    try:
        import h5py
    except ImportError:  # an extra
        return
    with h5py.File(folder / "chunk73.mat", "w") as file:
        made = file.create_dataset("x", shape=(9, 9), dtype="f8", chunks=(9, 9), compression="gzip")
        made.id.write_direct_chunk((0, 0), zeros)
    with h5py.File(folder / "declared73.mat", "w") as file:
        file.create_dataset("x", shape=(2**20, 2**20), dtype="f8", chunks=(2**10, 2**10))
    with h5py.File(folder / "chunks73.mat", "w") as file:
        file.create_dataset("x", shape=(2**12, 2**12), dtype="u1", chunks=(1, 1), compression="gzip")


def links(folder: Path) -> dict[str, str]:
    """Write MATLAB 7.3 files that lead elsewhere; return their names with words of the refusal.

    Where they lead: to a file `secret.h5` of the folder, to one that is not there, and to a pipe.
    """
    import h5py

    numbers = np.eye(7)
    with h5py.File(folder / "secret.h5", "w") as file:
        file["x"] = numbers
        file["Boundaries"] = numbers
    numbers.tofile(folder / "secret.raw")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.h5")
    for place in ("secret.h5", "missing.h5", "pipe.h5"):
        _write_links(folder, place.partition(".")[0], h5py.ExternalLink(str(folder / place), "x"))
    _write_links(folder, "soft", h5py.SoftLink("/#refs#/hidden"))
    told = {path.name: "not followed" for path in folder.glob("*.mat")}
    layout = h5py.VirtualLayout((7, 7), "f8", maxshape=(None, 7))
    source = h5py.VirtualSource(str(folder / "pipe.h5"), "x", (7, 7), maxshape=(None, 7))
    layout[: h5py.h5s.UNLIMITED, :] = source[: h5py.h5s.UNLIMITED, :]
    external = [(str(folder / "secret.raw"), 0, numbers.nbytes)]
    for name, make in {
        "virtual": lambda group: group.create_virtual_dataset("Boundaries", layout),
        "external": lambda group: group.create_dataset("Boundaries", (7, 7), "f8", external=external),
        "filter": lambda group: group.create_dataset("Boundaries", data=numbers, compression="lzf"),
        "offset": lambda group: group.create_dataset("Boundaries", data=np.eye(7, dtype=int), scaleoffset=0),
    }.items():
        words = "packs its numbers" if name in ("filter", "offset") else "in another file"
        for kind in ("variable", "field", "cell"):
            with h5py.File(folder / f"{name}-{kind}.mat", "w") as file:
                _place(file, kind, make)
            told[f"{name}-{kind}.mat"] = words
    return told


def _write_links(folder, name, link) -> None:
    import h5py

    def make(group):
        group["Boundaries"] = link
        return

    for kind in ("variable", "field", "cell"):
        with h5py.File(folder / f"{name}-{kind}.mat", "w") as file:
            file["#refs#/hidden"] = np.eye(7)
            _place(file, kind, make)


def _place(file, kind, make) -> None:
    """Put what `make` makes into a file as a variable, a field of a struct, or a field of a cell."""
    import h5py

    if kind == "variable":
        make(file)
        return
    group = file.create_group("groundTruth" if kind == "field" else "#refs#/a")
    make(group)
    if kind == "cell":
        file.create_dataset("groundTruth", data=np.array([[group.ref]], dtype=h5py.ref_dtype))
