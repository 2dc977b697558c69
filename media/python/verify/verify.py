"""Runs original and fused code side by side: python -B verify.py REQUEST. See README.md."""

import sys

sys.dont_write_bytecode = True

from fuselens_verify.main import main  # noqa: E402

main(sys.argv[1])
