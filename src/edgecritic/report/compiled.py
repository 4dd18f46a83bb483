"""Templates stay compiled where Python keeps modules: mostly in the folder ``__pycache__`` beside them."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path

from jinja2 import BytecodeCache, __version__
from jinja2.bccache import Bucket

from edgecritic.atomic import write_bytes
from edgecritic.errors import OutputError

__all__ = ["CompiledTemplates"]

_DIGEST_BYTES = hashlib.sha256().digest_size


class CompiledTemplates(BytecodeCache):
    """Keeps the compiled form of each template in one file, which begins with a checksum.

    What cannot be read, is damaged, or was made with something else is as if it were not there, and what
    cannot be written is not kept, as with modules.

    Parameters
    ----------
    made_with : str
        What the compiled form depends on besides the template, the versions of Python and Jinja.
    """

    def __init__(self, made_with: str) -> None:
        self._made_with = f"{made_with} {__version__}".encode()

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the file of a template, which tells it from others."""
        return filename or name

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket if its template is kept."""
        with suppress(OSError, ValueError, NotImplementedError):
            content = self._file(bucket).read_bytes()
            checksum, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if checksum == self._checksum(code):
                bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what is in the bucket, unless Python shall keep nothing."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError, OutputError, ValueError, NotImplementedError):
            code = bucket.bytecode_to_string()
            write_bytes(self._file(bucket), self._checksum(code) + code)

    def _checksum(self, code: bytes) -> bytes:
        return hashlib.sha256(self._made_with + code).digest()

    @staticmethod
    def _file(bucket: Bucket) -> Path:
        return Path(importlib.util.cache_from_source(bucket.key))
