"""What parameters may be, in scikit-learn's own words.

Its module for that is private. It has not changed since version 1.2; should it do so,
this is the only file that knows it.
"""

from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["Interval", "StrOptions"]
