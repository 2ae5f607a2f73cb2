"""
Texts, by way of embeddings
===========================

Clustering sees numbers, so texts come as embeddings: the vectors of a sentence encoder,
or TF-IDF with a truncated SVD, as here, where nothing may be downloaded. From there on
it is the same program.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from scedae import SCEDAE, plot

# Messages to a bank, put together from parts: what, which thing, and how it is said.
topics = {
    "card lost": (
        ["lost", "cannot find", "left somewhere"],
        ["card", "debit card", "wallet with my card"],
    ),
    "card declined": (
        ["declined", "was refused", "does not work"],
        ["card at the shop", "contactless payment", "payment at the till"],
    ),
    "transfer late": (
        ["not arrived", "still pending", "is missing"],
        ["bank transfer", "transfer to my account", "incoming transfer"],
    ),
    "fee": (
        ["was charged", "took a fee", "extra cost"],
        ["fee for cash", "fee on my statement", "charge for exchange"],
    ),
    "password": (
        ["forgot", "need to reset", "locked out with"],
        ["password", "passcode of the app", "login"],
    ),
}
openings = ["hello", "please help", "hi there", "what now", "I think", "since monday"]
closings = ["", "what should I do", "can you check", "thanks", "it is urgent"]
generator = np.random.default_rng(0)
texts, of_topic = [], []
for number, (words, things) in enumerate(topics.values()):
    for _ in range(140):
        parts = [generator.choice(each) for each in (openings, things, words, closings)]
        texts.append(" ".join(parts))
        of_topic.append(number)
print(*texts[::90], sep="\n")

# %%
encode = make_pipeline(
    TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
    TruncatedSVD(30, random_state=0),
    Normalizer(),
)
X = encode.fit_transform(texts)
model = SCEDAE(5, effort="fast", random_state=0).fit(X)

# %%
# The map, and the words that set each cluster apart: their share in the cluster less
# their share elsewhere.
counts = TfidfVectorizer(use_idf=False, norm=None, binary=True, stop_words="english")
present = counts.fit_transform(texts).toarray()
names = counts.get_feature_names_out()
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
plot.embedding(model, ax=left)
left.get_legend().remove()
ticks = []
for cluster in range(5):
    own = model.labels_ == cluster
    lift = present[own].mean(0) - present[~own].mean(0)
    best = np.argsort(lift)[::-1][:4]
    places = 5 * cluster + np.arange(4)
    right.barh(places, lift[best], color=f"C{cluster}")
    ticks += list(zip(places, names[best], strict=True))
right.set_yticks(*zip(*ticks, strict=True), fontsize=8)
right.invert_yaxis()
right.set(xlabel="share of texts with the word, less the share elsewhere")
right.set_title("Words that set clusters apart")
plt.show()
