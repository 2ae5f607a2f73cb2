"""Small copies of the gallery's pictures, kept in ``images/made``.

A full build draws every picture, and writes a small copy of each there; pages show
these copies, and they are committed. A quick build executes nothing, and shows them in
the gallery too.
"""

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image, ImageOps
from sphinx_gallery.scrapers import matplotlib_scraper

from scedae._palette import LIGHT

MADE = Path(__file__).parent.parent / "images" / "made"
_WIDTH = 860  # pixels: sharp on a page, and some 15 kB
_QUALITY = 40
_THUMBNAIL = (400, 280)


def plain_style(gallery_conf, fname):
    """One look for all examples: few lines, and the colours of scedae.plot."""
    plt.rcParams.update(
        {
            "axes.prop_cycle": plt.cycler(color=LIGHT),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "legend.frameon": False,
            "figure.dpi": 100,
        }
    )


def _get_sg_image_scraper():
    return scrape


def scrape(block, block_vars, gallery_conf, **options):
    """As sphinx-gallery's own scraper, but a copy of each figure is kept."""
    name = Path(block_vars["src_file"]).stem.removeprefix("plot_")
    before = len(block_vars["image_path_iterator"])
    for place, number in enumerate(plt.get_fignums(), before + 1):
        _keep(plt.figure(number), MADE / f"{name}-{place}.webp")
    return matplotlib_scraper(
        block, block_vars, gallery_conf, bbox_inches="tight", dpi=120, **options
    )


def _keep(figure, path):
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=160, bbox_inches="tight")
    picture = Image.open(buffer).convert("RGB")
    picture.thumbnail((_WIDTH, 10 * _WIDTH))
    MADE.mkdir(parents=True, exist_ok=True)
    picture.save(path, quality=_QUALITY, method=6)


def _kept(name):
    return sorted(MADE.glob(f"{name.removeprefix('plot_')}-*.webp"))


def show_kept(app, docname, source):
    """The kept pictures, below the words at the top of an example not executed."""
    folder, _, name = docname.rpartition("/")
    if not name.startswith("plot_") or "image-sg" in source[0]:
        return
    up = "../" * (folder.count("/") + 1)
    images = "".join(
        f".. image:: {up}images/made/{each.name}\n   :alt: {name}\n\n"
        for each in _kept(name)
    )
    first = source[0].find(".. code-block:: Python")
    mark = source[0].rfind(".. GENERATED FROM", 0, first)
    source[0] = f"{source[0][:mark]}{images}{source[0][mark:]}"


def make_thumbnails(app):
    """Of every example: the first picture, cut to the form of a card, not shrunk."""
    for script in Path(app.srcdir, "gallery").rglob("plot_*.py"):
        kept = _kept(script.stem)
        thumb = script.parent / f"images/thumb/sphx_glr_{script.stem}_thumb.png"
        if kept and thumb.exists():
            picture = Image.open(kept[0])
            ImageOps.fit(picture, _THUMBNAIL, centering=(0, 0)).save(thumb)


def setup(app):
    app.connect("builder-inited", make_thumbnails, priority=900)
    app.connect("source-read", show_kept)
    return {"parallel_read_safe": True}
