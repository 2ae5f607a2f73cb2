"""From records to what is read: cells beside published values, tables, figures."""
