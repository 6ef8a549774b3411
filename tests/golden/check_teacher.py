#!/usr/bin/env python3
"""Teachers from PyTorch to shapecond and back: the same weights, the same logits.

    tests/golden/check_teacher.py [BUILD]        BUILD: where `make check` built the tests"""
import os
import subprocess
import sys
import tempfile

import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "pipelines", "examples"))
import torch_teacher  # noqa: E402

build = sys.argv[1] if len(sys.argv) > 1 else "build"
with tempfile.TemporaryDirectory() as folder:
    descriptions = [f"cnn width=24 norm={norm}" for norm in ("none", "batch", "instance", "layer")]
    descriptions += ["cnn width=8 end=mean", "cnn width=8 end=max", "fcn width=8",
                     "fcn width=6 norm=none end=flatten", "resnet width=4",
                     "resnet width=4 blocks=2 norm=none end=max", "resnet width=4 norm=layer",
                     "inception depth=3 width=4", "inception depth=7 width=2 norm=none bottleneck=0",
                     "tcn depth=3 width=5", "tcn depth=2 width=5 norm=layer end=flatten",
                     "mlp width=17", "mlp depth=2 width=7 norm=batch", "transformer",
                     "transformer width=6 heads=2 layers=2 ff=5 patch=3 norm=layer act=gelu "
                     "dropout=0.25 positions=learned end=mean", "gru hidden=7",
                     "gru hidden=4 layers=3 end=mean"]
    for description in descriptions:
        there, back = os.path.join(folder, "there.tch"), os.path.join(folder, "back.tch")
        torch_teacher.main("make", there, f"{description} channels=3 length=20 classes=4")
        subprocess.run([f"{build}/tests/test_tch", there, back], check=True)
        x = torch.randn(6, 3, 20)
        before, after = torch_teacher.load_tch(there), torch_teacher.load_tch(back)
        with torch.no_grad():
            assert torch.equal(before(x), after(x)), description
        for name, value in before.state_dict().items():
            if "num_batches" not in name:
                assert torch.equal(value, after.state_dict()[name]), name
        print(f"{description}: the same after a round trip")
