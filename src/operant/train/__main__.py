"""``python -m operant.train`` is ``operant train hierarchical``."""

import sys

from operant.cli import main

if __name__ == "__main__":
    main(["train", "hierarchical", *sys.argv[1:]])
