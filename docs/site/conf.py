"""Sphinx settings of the documentation site; `scripts/docs` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

import trustream  # noqa: E402

project = "trustream"
copyright = "the trustream authors"
version = release = trustream.__version__

# The pages are the Markdown files of the repository, which link to each other there as well. Hence
# the source directory is the repository itself.
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "experiments/published/README.md",
    "experiments/results/README.md",
]
exclude_patterns = [
    "**/.venv",
    "docs/site",
    "docs/tutorials",
    "docs/gallery/*.ipynb",
    "docs/gallery/*.py",
]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autosummary_generate = True
templates_path = [str(ROOT / "docs/site/templates")]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Names in docstrings, such as `TopicModel`, lead to their pages.
default_role = "py:obj"
toc_object_entries_show_parents = "hide"
# Docstrings have both forms: parameters of public classes as in NumPy, attributes as in Google's.
# Attributes are listed like parameters, under their own heading.
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
napoleon_use_admonition_for_examples = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "docs/tutorials")],
    "gallery_dirs": [str(ROOT / "docs/gallery")],
    "filename_pattern": "plot_",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "within_subsection_order": "ExampleTitleSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "trustream"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False


def _is_from_scikit_learn(
    app: object, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out what every estimator has from scikit-learn, whose documentation describes it."""
    home = getattr(obj, "__module__", None) or ""
    return True if home.startswith("sklearn") else None


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", _is_from_scikit_learn)  # type: ignore[attr-defined]
