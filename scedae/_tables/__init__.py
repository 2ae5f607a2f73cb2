"""Tables as people have them, made into numbers by a written rule.

Needs polars (``pip install 'scedae[tables]'``), which importing ``scedae`` does not.
The rule is in ``docs/tables.md``; what was learnt is plain JSON, never pickle.
"""

try:
    import polars  # noqa: F401 - every module of the package needs it
except ImportError as error:
    raise ImportError("tables need polars: pip install 'scedae[tables]'.") from error
