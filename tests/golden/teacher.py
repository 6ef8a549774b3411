"""Makes the teachers that test_tch reads, NAME.tch as PyTorch writes them, and NAME.npy, a batch of
series followed by PyTorch's logits."""
import os
import sys

import numpy as np
import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "pipelines", "examples"))
import torch_teacher  # noqa: E402

folder = sys.argv[1] if len(sys.argv) > 1 else here
for name, text in (("teacher", "cnn depth=2 width=6"), ("fcn", "fcn width=5"),
                   ("resnet", "resnet blocks=3 width=3 end=max"),
                   ("inception", "inception depth=3 width=3 kernel1=6 kernel2=3 kernel3=2 bottleneck=2"),
                   ("tcn", "tcn depth=3 width=3 kernel=3"), ("mlp", "mlp depth=2 width=5 norm=batch"),
                   ("transformer", "transformer width=6 heads=2 ff=5"),
                   ("pre-norm", "transformer width=4 layers=2 ff=6 patch=3 norm=layer act=gelu "
                                "positions=learned end=mean"),
                   ("gru", "gru hidden=5 layers=2")):
    path = os.path.join(folder, name + ".tch")
    torch_teacher.main("make", path, text + " channels=2 length=14 classes=3", "7")
    x = torch.randn(5, 2, 14)
    with torch.no_grad(), open(os.path.join(folder, name + ".npy"), "wb") as file:
        np.save(file, x.numpy())
        np.save(file, torch_teacher.load_tch(path)(x).numpy())
