"""``python -m operant`` is ``operant``."""

from operant.cli import main

if __name__ == "__main__":
    main()
