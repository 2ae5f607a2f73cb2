"""The paper's four ensembles, and one's own, on a shape lifted to 100 dimensions."""

from __future__ import annotations

from scedae import SCEDAE, MemberSpec
from scedae.datasets import lift, make_tetra
from scedae.metrics import evaluate

H, y = make_tetra(400, random_state=0)
X = lift(H, "tangent", random_state=0)

own = [
    MemberSpec(hidden_layers=(50, 75, 100), epochs=60, n_landmarks=100),
    MemberSpec(hidden_layers=(64, 64), epochs=60, n_landmarks=60),
    MemberSpec(hidden_layers=(), epochs=0, n_landmarks=100),  # the rows themselves
]
for ensemble in ("structure", "initialization", "epochs", "landmarks", own):
    model = SCEDAE(4, ensemble=ensemble, epochs=60, n_landmarks=100, random_state=0)
    scores = evaluate(y, model.fit_predict(X))
    name = ensemble if isinstance(ensemble, str) else "own list"
    print(f"{name:15} {len(model.members_)} members, ACC {scores['acc']:.3f}")
