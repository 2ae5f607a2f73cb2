"""Files that hold rows: how each format is opened, and what is said if it cannot be.

Rows of numbers (``_rows``), tables (``_tables``) and the command open files by the same
functions. Errors begin with "it": who asked knows the name, and puts it before.
"""
