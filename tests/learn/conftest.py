"""Tests of learning calculate on one thread: networks this small only wait for each other on two."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
