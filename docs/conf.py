"""The documentation site: ``make docs`` (quick) and ``make docs-full``."""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

from scedae import __version__  # noqa: E402

project = "scedae"
author = "the scedae developers"
copyright = "the scedae developers"
version = release = __version__

# `-t full` executes the gallery; without it, pages show the pictures that are kept
# in images/made, and nothing is run.
full = tags.has("full")  # noqa: F821  (Sphinx puts `tags` here)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "kept_pictures",
    "links_of_the_repository",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "**/sg_execution_times.rst"]
templates_path = ["_templates"]
suppress_warnings = [
    "myst.header",  # the rendered tables of the paper begin at the third level
]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_default_options = {"member-order": "bysource"}
autodoc_mock_imports = ["anndata"]  # wants an older pandas than the rest
autodoc_typehints = "none"  # numpydoc sections say it in words
numpydoc_show_class_members = False  # the template lists them
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "plot_gallery": full,
    "image_scrapers": ("kept_pictures",),
    "doc_module": ("scedae",),
    "backreferences_dir": "gallery/backreferences",
    "reset_modules": ("matplotlib", "kept_pictures.plain_style"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1,
    "thumbnail_size": (400, 280),
    "remove_config_comments": True,
    "nested_sections": False,
    "subsection_order": [
        f"../examples/gallery/{section}"
        for section in (
            "start",
            "how_it_works",
            "answers",
            "data",
            "parameters",
            "benchmarks",
        )
    ],
    "within_subsection_order": "FileNameSortKey",
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = f"scedae {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "scedae"},
    "show_toc_level": 2,
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "performance": [],  # its tables need the room
    },
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {page: [] for page in ("index", "start", "performance")}


def leave_out(app, what, name, member, skip, options):
    """Methods that scikit-learn and Python put into every class."""
    routing = name == "get_metadata_routing" or name.endswith("_request")
    return True if routing or name in {"set_output", "add_note"} else None


def setup(app):
    app.connect("autodoc-skip-member", leave_out)
