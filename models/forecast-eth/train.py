"""Trains and exports the ETH quantiles: python train.py [--data DIR] [--test]"""

import sys
from pathlib import Path

folder = Path(__file__).resolve().parent
sys.path.insert(0, str(folder.parent / "shared"))

from series_train_daily import main  # noqa: E402

main(folder)
