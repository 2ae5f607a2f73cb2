"""
Time windows: states of a machine
=================================

A long signal is cut into windows, each window becomes a row, and clusters are states.
Features that do not depend on the phase of an oscillation (here the spectrum of each
window) matter more than the method.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE

generator = np.random.default_rng(0)
rate, seconds = 50, 1200
states = ["idle", "slow", "fast", "rattling"]
time = np.arange(rate * seconds) / rate
state = np.repeat(generator.integers(0, 4, seconds // 30), 30 * rate)
phase = np.cumsum(np.array([0.0, 2.0, 6.0, 6.0])[state]) / rate
signal = np.array([0.05, 0.8, 1.0, 1.0])[state] * np.sin(2 * np.pi * phase)
signal += (state == 3) * 0.9 * np.sin(2 * np.pi * 17 * time)
signal += generator.normal(0, 0.25, len(time))

# %%
# Windows of four seconds, one every second; the logarithm of their spectrum is the row.
width = 4 * rate
starts = np.arange(0, len(signal) - width, rate)
windows = np.stack([signal[start : start + width] for start in starts])
spectra = np.abs(np.fft.rfft(windows * np.hanning(width), axis=1))[:, :80]
X = np.log(spectra + 1)
model = SCEDAE(4, effort="fast", random_state=0).fit(X)

# %%
# The signal coloured by the cluster of its windows, with the true state above. Windows
# that lie across a change belong to two states; their confidence is low.
figure, (above, middle, below) = plt.subplots(
    3, figsize=(11, 4.6), sharex=True, height_ratios=(0.5, 3, 1.2), layout="constrained"
)
shown = slice(0, 400)
centre = (starts + width / 2) / rate
first = [
    np.bincount(model.labels_[state[starts + width // 2] == s], minlength=4).argmax()
    for s in range(4)
]
for second in range(400):
    here = state[second * rate]
    above.axvspan(second, second + 1, color=f"C{first[here]}", linewidth=0)
for start, label in zip(starts[shown], model.labels_[shown], strict=True):
    part = slice(start + width // 2, start + width // 2 + rate + 1)
    middle.plot(time[part], signal[part], color=f"C{label}", linewidth=0.6)
below.fill_between(centre[shown], model.confidence_[shown], color="0.75", linewidth=0)
above.set(yticks=[], ylabel="true")
above.spines[:].set_visible(False)
middle.set(ylabel="signal")
below.set(ylabel="confidence", xlabel="seconds", ylim=(0, 1), xlim=(0, 400))
for s, name in enumerate(states):
    middle.plot([], [], color=f"C{first[s]}", linewidth=4, label=name)
middle.legend(ncols=4, loc="lower right", fontsize=8, frameon=True)
plt.show()
