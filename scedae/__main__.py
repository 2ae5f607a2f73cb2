"""``python -m scedae`` is the command ``scedae``."""

from scedae.cli import main

if __name__ == "__main__":
    main()
