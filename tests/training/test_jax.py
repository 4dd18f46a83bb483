"""Arrays of JAX, and of Keras on JAX, are judged as NumPy arrays of the same values are."""

from __future__ import annotations

import numpy as np
import pytest

import edgecritic
from edgecritic.errors import InputError
from edgecritic.training import BoundaryBenchmark, EdgeScores, SurfaceScores

TARGET = np.zeros((2, 20, 30), bool)
TARGET[:, 10, 5:25] = True
STRENGTH = np.where(TARGET, 0.5, 0.0) + 0.5 * np.random.default_rng(0).random(TARGET.shape)


def judged(prediction, target, **options):
    """Return the numbers of one batch."""
    benchmark = BoundaryBenchmark("bsds", **options)
    benchmark.update(prediction, target)
    return benchmark.compute()


@pytest.fixture
def keras(jax, monkeypatch):
    """Keras with the backend JAX; the test is skipped where it is absent."""
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    found = pytest.importorskip("keras")
    if found.backend.backend() != "jax":
        pytest.skip("Keras was imported with another backend")
    return found


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "float8_e4m3fn"])
def test_predictions_of_every_precision(jax, kind):
    given = jax.numpy.asarray(STRENGTH, dtype=kind)
    assert judged(given, TARGET) == judged(np.asarray(given).astype(np.float64), TARGET)


@pytest.mark.parametrize("kind", ["bool", "uint8", "int32", "float32", "bfloat16"])
def test_targets_of_every_type(jax, kind):
    assert judged(STRENGTH, jax.numpy.asarray(TARGET).astype(kind)) == judged(STRENGTH, TARGET)


def test_logits_of_half_precision_become_probabilities(jax):
    logits = jax.numpy.asarray(6 * STRENGTH - 3, dtype="bfloat16")
    plain = 1 / (1 + np.exp(-np.asarray(logits).astype(np.float32)))
    assert judged(logits, TARGET, from_logits=True) == judged(plain, TARGET)


def test_lists_of_arrays_on_a_device(jax):
    device = jax.devices()[0]
    predictions = [jax.device_put(one.astype(np.float32), device) for one in STRENGTH]
    assert judged(predictions, [jax.device_put(one, device) for one in TARGET]) == judged(
        STRENGTH.astype(np.float32), TARGET
    )


def test_a_batch_may_be_deleted_after_update(jax):
    given = jax.numpy.asarray(STRENGTH, dtype="float32")
    benchmark = BoundaryBenchmark("bsds")
    benchmark.update(given, TARGET)
    given.delete()
    assert benchmark.compute() == judged(STRENGTH.astype(np.float32), TARGET)


def test_what_is_traced_has_no_values(jax):
    with pytest.raises(InputError, match="prediction cannot be read as an array"):
        jax.jit(lambda traced: judged(traced, TARGET)["ODS"])(STRENGTH)


@pytest.mark.parametrize(
    "scores", [lambda: EdgeScores(["f", "fom"]), lambda: SurfaceScores(["dice", "hd95"])]
)
def test_scores_of_masks(jax, scores):
    ours, plain = scores(), scores()
    given = jax.numpy.asarray(STRENGTH, dtype="bfloat16")
    ours.update(given, jax.numpy.asarray(TARGET))
    plain.update(np.asarray(given).astype(np.float32), TARGET)
    assert ours.compute() == plain.compute()


def test_functions_outside_of_loops_take_half_precision_too(jax):
    given = jax.numpy.asarray(STRENGTH[0], dtype="bfloat16")
    wide = np.asarray(given).astype(np.float32)
    found, expected = edgecritic.Benchmark("bsds"), edgecritic.Benchmark("bsds")
    found.update(given, [jax.numpy.asarray(TARGET[0])], id="a")
    expected.update(wide, [TARGET[0]], id="a")
    assert found.result(draws=0) == expected.result(draws=0)
    truth = jax.numpy.asarray(TARGET[0], dtype="bfloat16")
    assert edgecritic.match(truth, TARGET[0], tolerance=1).tp == TARGET[0].sum()


def test_tensors_and_variables_of_keras(keras):
    for kind in ("float32", "bfloat16"):
        tensor = keras.ops.cast(keras.ops.convert_to_tensor(STRENGTH), kind)
        expected = judged(np.asarray(tensor).astype(np.float32), TARGET)
        assert judged(tensor, TARGET) == judged(keras.Variable(tensor, dtype=kind), TARGET) == expected


def test_a_callback_of_keras_notes_the_benchmark(keras):
    class Validate(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            found = self.model(STRENGTH[..., None], training=False)
            logs["val_ODS"] = judged(found[..., 0], TARGET, from_logits=True)["ODS"]

    network = keras.Sequential([keras.layers.Input((20, 30, 1)), keras.layers.Conv2D(1, 3, padding="same")])
    network.compile("sgd", loss=keras.losses.BinaryCrossentropy(from_logits=True))
    told = network.fit(STRENGTH[..., None], TARGET[..., None], epochs=2, verbose=0, callbacks=[Validate()])
    last = judged(np.asarray(network(STRENGTH[..., None]))[..., 0], TARGET, from_logits=True)["ODS"]
    assert told.history["val_ODS"][-1] == last
