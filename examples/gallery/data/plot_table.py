"""
A table of customers
====================

Numbers, categories, dates and gaps in one table. ``make_table_pipeline`` turns every
column into numbers by a written rule, and clusters the rows; nothing has to be scaled
or encoded by hand.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from scedae import make_table_pipeline

generator = np.random.default_rng(1)
kind = generator.choice(4, 800, p=[0.35, 0.3, 0.2, 0.15])
day = np.array([20, 300, 900, 500])[kind] + generator.integers(0, 120, 800)
table = pd.DataFrame(
    {
        "age": (np.array([24, 47, 70, 36])[kind] + generator.normal(0, 5, 800)).round(),
        "orders a year": generator.poisson(np.array([3, 14, 5, 34])[kind]),
        "basket": np.exp(
            np.array([2.5, 4.0, 3.2, 5.4])[kind] + generator.normal(0, 0.3, 800)
        ),
        "channel": [
            generator.choice(["app", "web", "shop", "phone"], p=p)
            for p in np.array(
                [
                    [0.8, 0.15, 0.05, 0],
                    [0.05, 0.85, 0.1, 0],
                    [0, 0.1, 0.6, 0.3],
                    [0.1, 0.8, 0, 0.1],
                ]
            )[kind]
        ],
        "joined": pd.Timestamp("2026-01-01") - pd.to_timedelta(day, unit="D"),
        "newsletter": generator.random(800) < np.array([0.1, 0.9, 0.3, 0.6])[kind],
    }
)
table.loc[generator.random(800) < 0.1, "age"] = np.nan
table.loc[generator.random(800) < 0.1, "channel"] = None
table.head()

# %%
pipeline = make_table_pipeline(4, random_state=0)
labels = pipeline.fit_predict(table)
print(pd.crosstab(labels, kind, rownames=["cluster"], colnames=["made as"]))

# %%
# What the clusters are like, in the units of the table: a picture to name them by.
figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
for ax, column in zip(axes, ("age", "orders a year", "basket"), strict=False):
    parts = [table[column][labels == cluster].dropna() for cluster in range(4)]
    boxes = ax.boxplot(parts, patch_artist=True, showfliers=False, widths=0.6)
    for cluster, box in enumerate(boxes["boxes"]):
        box.set(facecolor=f"C{cluster}", alpha=0.8)
    plt.setp(boxes["medians"], color="black")
    ax.set_title(column)
    ax.set_xticks(range(1, 5), range(4))
    ax.set_xlabel("cluster")
axes[2].set_yscale("log")
shares = pd.crosstab(labels, table["channel"], normalize="index")
left = np.zeros(4)
for shade, (channel, share) in zip(
    (0.15, 0.4, 0.62, 0.82), shares.items(), strict=True
):
    axes[3].barh(range(4), share, left=left, color=str(shade), label=channel)
    left += share.to_numpy()
axes[3].set_title("channel")
axes[3].set(yticks=range(4), xlabel="share", ylabel="cluster")
axes[3].legend(ncols=2, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.25))
plt.show()
