"""Makes the teacher that test_tch reads: teacher.tch as PyTorch writes it, and teacher.npy, a batch
of series followed by PyTorch's logits."""
import os
import sys

import numpy as np
import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "pipelines", "examples"))
import torch_teacher  # noqa: E402

path = os.path.join(here, "teacher.tch")
torch_teacher.main("make", path, "cnn depth=2 width=6 channels=2 length=14 classes=3", "7")
x = torch.randn(5, 2, 14)
with torch.no_grad(), open(os.path.join(here, "teacher.npy"), "wb") as file:
    np.save(file, x.numpy())
    np.save(file, torch_teacher.load_tch(path)(x).numpy())
