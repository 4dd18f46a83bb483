"""The application: what of a gallery is shown at which address. Nothing can be changed."""

from __future__ import annotations

import logging
import math
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from edgecritic import __version__
from edgecritic.cores import usable_cores
from edgecritic.datasets.class_cases import ClassCase
from edgecritic.datasets.rasters import Window
from edgecritic.errors import EdgeCriticError, InputError
from edgecritic.figures import COLOURS, FALSE_ALARM, HIT, MISS, SHADES
from edgecritic.protocols.presets import PRESETS
from edgecritic.protocols.protocol import Protocol
from edgecritic.run.judge import STRATEGIES, Judged, Loaded
from edgecritic.view.classes import OpenedClass
from edgecritic.view.command import command_of
from edgecritic.view.gallery import Detector, Gallery
from edgecritic.view.kept import Kept
from edgecritic.view.opened import Opened, State, most_tolerance, plane_of
from edgecritic.view.packing import pack, places
from edgecritic.view.pictures import png_of, thumbnail
from edgecritic.view.tables import curve_record, facts_record, gallery_record, view_record
from edgecritic.view.windows import LoadedWindow, Whole
from edgecritic.web.files import Static
from edgecritic.web.guard import Site, names_loopback

__all__ = ["Viewer", "create_app"]

OWN = "run"
"""What the protocol of the run is called in addresses."""

_HERE = Path(__file__).parent
_OPENED = 160 * 2**20
_WHOLES = 32 * 2**20
_PHOTOS = 64 * 2**20
_THUMBS = 16 * 2**20
_REPLIES = 48 * 2**20
_log = logging.getLogger(__name__)


class NotFound(EdgeCriticError):  # noqa: N818 - a reply, not a fault
    """Nothing has this id."""


class Viewer:
    """What all requests share: the gallery, and what was made of it, in bounded memory."""

    def __init__(self, gallery: Gallery) -> None:
        self.gallery = gallery
        self.opened: Kept[Opened | OpenedClass] = Kept(_OPENED, lambda one: one.weight)
        self.wholes: Kept[Whole] = Kept(_WHOLES, lambda one: one.overview.nbytes)
        self.photos: Kept[Any] = Kept(_PHOTOS, lambda one: 0 if one is None else one.nbytes)
        self.thumbs: Kept[bytes] = Kept(_THUMBS, len)
        self.replies: Kept[bytes] = Kept(_REPLIES, len)
        self.protocols = {OWN: gallery.protocol} | _others(gallery.protocol)
        self.working = threading.BoundedSemaphore(max(2, usable_cores()))

    def detector(self, request: Request) -> Detector:
        """Return the detector of the path."""
        found = self.gallery.detectors.get(request.path_params["detector"])
        if found is None:
            raise NotFound("no detector has this id")
        return found

    def image(self, request: Request) -> str:
        """Return the name of the image of the path."""
        found = self.gallery.images.get(request.path_params["image"])
        if found is None:
            raise NotFound("no image has this id")
        return found

    def group(self, request: Request) -> str | None:
        """Return the class of the query, the first if it names none; None where no classes are judged."""
        groups = self.gallery.groups
        found = request.query_params.get("c", groups[0] if groups else None)
        if found is not None and found not in groups:
            raise NotFound("no class has this name")
        return found

    def judged(self, detector: Detector, image: str) -> Judged | None:
        """Return what the run has found of an image."""
        return self.gallery.judged.get(detector.name, {}).get(image)

    def whole(self, detector: Detector, image: str) -> Whole:
        """Return a raster that is too large to be shown as a whole."""

        def make() -> Whole:
            case = self.gallery.case(detector, image)
            return Whole(case, self.gallery.protocol, detector.reading, self.judged(detector, image))

        if image not in self.gallery.rasters:
            raise NotFound("this image is shown as a whole")
        return self.wholes.get((detector.name, image), make)

    def open(self, request: Request, detector: Detector, image: str) -> Opened | OpenedClass:
        """Return an image of a detector, or the class or the window of it that the query names, opened."""
        gallery, group, window = self.gallery, self.group(request), None
        if image in gallery.rasters:
            window = self.whole(detector, image).window(_middle(request))

        def make() -> Opened | OpenedClass:
            if window is not None:
                return Opened(LoadedWindow(self.whole(detector, image), window), None)
            judged, case = self.judged(detector, image), gallery.case(detector, image)
            if isinstance(case, ClassCase) and group is not None:
                return OpenedClass(case, gallery.protocol, group, gallery.resize, judged)
            return Opened(Loaded(case, gallery.protocol, detector.reading), judged)

        return self.opened.get((detector.name, image, group, _start(window)), make)

    def protocol(self, request: Request) -> Protocol:
        """Return the protocol of the query."""
        found = self.protocols.get(request.query_params.get("p", OWN))
        if found is None:
            raise NotFound("no protocol has this id")
        return found

    def state(self, request: Request, opened: Opened | OpenedClass) -> State:
        """Return the state of the query; what it does not say is as in the run."""
        protocol = self.protocol(request)
        strategy = request.query_params.get("s", protocol.strategy)
        if strategy not in (protocol.strategy, *STRATEGIES):
            raise NotFound("no strategy has this id")
        own = protocol.tolerance_for(opened.extent, opened.spacing)
        tolerance = _number(request, "tol", own)
        threshold = _number(request, "t", 0.5)
        most = most_tolerance(own, opened.extent, opened.sizes)
        if not 0 <= tolerance <= max(own, most):
            raise InputError(f"the tolerance must lie in 0 … {max(own, most):g}, got {tolerance:g}")
        if not opened.segmentations and not 0 <= threshold <= 1:
            raise InputError(f"the threshold must lie in 0 … 1, got {threshold:g}")
        return State(threshold, tolerance, strategy, protocol, self.group(request), _start(opened.window))


def _others(own: Protocol) -> dict[str, Protocol]:
    """Return the protocols that one can switch to: those for maps of the same dimensions, without classes."""
    if own.classes is not None:
        return {}
    volumes = not own.thin and own.truth == "inner"
    return {
        name: one
        for name, one in PRESETS.items()
        if one.judges == "boundaries" and one.classes is None and (one.truth == "inner") == volumes
    }


def _start(window: Window | None) -> tuple[int, int] | None:
    """Return the first row and column of a window, which tell it from others of the same raster."""
    return None if window is None else (window[0].start, window[1].start)


def _middle(request: Request) -> tuple[float, float] | None:
    """Return the place in a raster that the query names."""
    if "w" not in request.query_params:
        return None
    row, _, column = request.query_params["w"].partition(",")
    return _as_number("w", row), _as_number("w", column)


def _number(request: Request, name: str, usual: float) -> float:
    text = request.query_params.get(name)
    return usual if text is None else _as_number(name, text)


def _as_number(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{name} must be a number")
    return found


def create_app(gallery: Gallery) -> Starlette:
    """Return the application that shows a gallery."""
    app = Site(
        [
            Route("/", page),
            Route("/gallery", overview),
            Route("/thumb/{image}", thumb),
            Route("/photo/{image}/{axis:int}/{index:int}", photo),
            Route("/truths/{image}", truths),
            Route("/open/{image}/{detector}", facts),
            Route("/small/{image}/{detector}", small),
            Route("/strength/{image}/{detector}/{axis:int}/{index:int}", strength),
            Route("/judge/{image}/{detector}", judged),
            Route("/curve/{image}/{detector}", curve),
            Mount("/static", Static(_HERE / "static")),
        ],
        allows_host=names_loopback,
        same_origin=lambda _headers: False,
        on_error=_reply_to,
    )
    app.state.viewer = Viewer(gallery)
    return app


def _viewer(request: Request) -> Viewer:
    found: Viewer = request.app.state.viewer
    return found


def page(_request: Request) -> Response:
    """Return the page; everything else comes by its scripts."""
    return FileResponse(_HERE / "page.html", media_type="text/html")


def overview(request: Request) -> Response:
    """Return all images with their numbers."""
    viewer = _viewer(request)
    looks = {
        "hit": HIT,
        "alarm": FALSE_ALARM,
        "miss": MISS,
        "lines": COLOURS,
        "shades": SHADES,
    }
    record = gallery_record(viewer.gallery, viewer.protocols, viewer.group(request))
    return JSONResponse({**record, "colours": looks, "version": __version__})


def thumb(request: Request) -> Response:
    """Return a small picture of an image: its photo, else the map of the first detector."""
    viewer = _viewer(request)
    image, group = viewer.image(request), viewer.group(request)
    detector = next(iter(viewer.gallery.detectors.values()))

    def make() -> bytes:
        with viewer.working:
            case = viewer.gallery.case(detector, image)
            if image in viewer.gallery.rasters:
                return thumbnail(replace(case, image=None), lambda: viewer.whole(detector, image).overview)
            if group is None:
                return thumbnail(case, case.load_strength)
            return thumbnail(
                case, lambda: viewer.open(request, detector, image).strength(viewer.gallery.protocol)
            )

    return Response(viewer.thumbs.get((image, group), make), media_type="image/jpeg")


def photo(request: Request) -> Response:
    """Return a plane of the photo as PNG."""
    viewer = _viewer(request)
    image = viewer.image(request)
    axis, index = request.path_params["axis"], request.path_params["index"]
    detector = next(iter(viewer.gallery.detectors.values()))
    with viewer.working:
        opened = viewer.open(request, detector, image)
        found = viewer.photos.get(image, opened.photo)
        if found is None:
            raise NotFound("this image has no photo")
        return Response(png_of(plane_of(found, len(opened.shape), axis, index)), media_type="image/png")


def truths(request: Request) -> Response:
    """Return the pixels of every annotator."""
    viewer = _viewer(request)
    image, protocol = viewer.image(request), viewer.protocol(request)
    detector = next(iter(viewer.gallery.detectors.values()))
    maps = viewer.open(request, detector, image).truths(protocol.truth)
    return _packed(pack({"annotators": len(maps)}, {str(at): places(one) for at, one in enumerate(maps)}))


def facts(request: Request) -> Response:
    """Return what must be known of an image before it can be judged in any state."""
    viewer = _viewer(request)
    image, detector, protocol = viewer.image(request), viewer.detector(request), viewer.protocol(request)
    with viewer.working:
        opened = viewer.open(request, detector, image)
    return JSONResponse(facts_record(opened, protocol, viewer.judged(detector, image)))


def small(request: Request) -> Response:
    """Return a raster at reduced size as PNG, dark on light."""
    viewer = _viewer(request)
    image, detector = viewer.image(request), viewer.detector(request)
    with viewer.working:
        overview = viewer.whole(detector, image).overview
    return Response(png_of(np.rint(255 * (1 - overview)).astype(np.uint8)), media_type="image/png")


def strength(request: Request) -> Response:
    """Return a plane of the map that thresholds cut, as float32."""
    viewer = _viewer(request)
    image, detector, protocol = viewer.image(request), viewer.detector(request), viewer.protocol(request)
    axis, index = request.path_params["axis"], request.path_params["index"]
    with viewer.working:
        opened = viewer.open(request, detector, image)
        plane = plane_of(opened.strength(protocol), len(opened.shape), axis, index)
    return _packed(pack({"shape": list(plane.shape)}, {"strength": plane.astype("<f4").ravel()}))


def judged(request: Request) -> Response:
    """Return numbers and pixels of an image in a state."""
    viewer = _viewer(request)
    image, detector = viewer.image(request), viewer.detector(request)
    opened = viewer.open(request, detector, image)
    state = viewer.state(request, opened)

    def make() -> bytes:
        with viewer.working:
            head, arrays = view_record(opened.view(state), state)
        whole = state.group is None and state.window is None
        command = command_of(detector, image, state) if whole else None
        return pack({**head, "command": command}, arrays)

    return _packed(viewer.replies.get((detector.name, image, state), make))


def curve(request: Request) -> Response:
    """Return precision and recall of an image at all thresholds, in the state of the query."""
    viewer = _viewer(request)
    image, detector = viewer.image(request), viewer.detector(request)
    opened = viewer.open(request, detector, image)
    state = viewer.state(request, opened)
    key = (
        detector.name,
        image,
        state.group,
        state.window,
        state.tolerance,
        state.strategy,
        state.protocol,
        "curve",
    )

    def make() -> bytes:
        with viewer.working:
            return bytes(JSONResponse(curve_record(opened.curve(state))).body)

    return Response(viewer.replies.get(key, make), media_type="application/json")


def _packed(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")


def _reply_to(request: Request, error: Exception) -> Response:
    """Return what is said of an error: all of a refusal, nothing of the inside."""
    if isinstance(error, EdgeCriticError):
        return _problem(error)
    if isinstance(error, HTTPException):
        words = {404: "There is nothing here.", 405: "This cannot be done here."}
        said = words.get(error.status_code, "This request cannot be served.")
        return JSONResponse({"error": said}, error.status_code)
    return _unexpected(request, error)


def _problem(error: EdgeCriticError) -> Response:
    message = getattr(error, "message", str(error))
    status = 404 if isinstance(error, NotFound) else 400
    return JSONResponse({"error": f"{message[:1].upper()}{message[1:]}."}, status)


def _unexpected(request: Request, error: Exception) -> Response:
    view = getattr(request.scope.get("endpoint"), "__name__", "no view")
    _log.error("request failed: %s", view, exc_info=error)
    return JSONResponse({"error": "Something went wrong here."}, 500)
