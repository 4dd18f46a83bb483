# docker build -t edgecritic .
# docker run --rm -v "$PWD:/work" edgecritic bench predictions --truth groundTruth --out run
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /dist

FROM python:3.13-slim
COPY --from=build /dist/*.whl /tmp/
RUN set -e; wheel="$(ls /tmp/*.whl)"; pip install --no-cache-dir "${wheel}[report,volumes]"; rm "$wheel"
# The kernels are compiled once, here; any user may read them.
ENV NUMBA_CACHE_DIR=/opt/edgecritic-cache
RUN mkdir -p "$NUMBA_CACHE_DIR" && edgecritic warmup && chmod -R a+rwX "$NUMBA_CACHE_DIR"
RUN useradd --create-home critic
USER critic
WORKDIR /work
ENTRYPOINT ["edgecritic"]
CMD ["--help"]
