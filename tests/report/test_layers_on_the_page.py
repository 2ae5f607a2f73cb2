"""The slider and the sentence about other numbers of clusters."""

import base64
import json

import numpy as np

from scedae import Layer
from scedae.report.nested import other_numbers, pack_layers


def test_the_slider_gives_every_layer(digits):
    model, X, _ = digits
    sample = np.arange(0, len(X), 3)
    packed = json.loads(json.dumps(pack_layers(model, sample)))
    pieces = np.frombuffer(base64.b64decode(packed["pieces"]), "u1")
    assert packed["own"] == model.n_clusters_
    assert len(packed["names"]) == packed["most"] - 1
    for i, names in enumerate(packed["names"]):
        assert (np.array(names)[pieces] == model.labels_at(i + 2)[sample]).all()


def test_it_is_on_the_page(digits_page):
    page = digits_page.read_text(encoding="utf-8")
    assert '<input id="layer" type="range" min="2"' in page
    assert "predict(X, reject=0.05)" in page
    assert "of 300 rows: so many would be put into the same cluster" in page


class _Stub:
    n_clusters_ = 3
    layers_ = (Layer(2, 0.91), Layer(3, 0.8))


def test_a_model_without_layers_has_neither():
    assert "2 (0.91)" in other_numbers(_Stub())
    assert "labels_at(2)" in other_numbers(_Stub())
    assert pack_layers(_Stub(), np.arange(2)) is None
    _Stub.layers_ = ()
    assert other_numbers(_Stub()) is None
