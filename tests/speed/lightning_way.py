"""PyTorch Lightning with all off that a measurement does not need: logger, bar, checkpoints, summary."""

import logging
import warnings

from torch.nn import functional as F

OFF = {"logger": False, "enable_progress_bar": False, "enable_checkpointing": False, "enable_model_summary": False}


def module(net, optimizer):
    """A network as a ``LightningModule``: cross-entropy of its logits (..., classes), and their accuracy in
    validation; a target of -100 counts for nothing."""
    import lightning as pl

    class Module(pl.LightningModule):  # Any where lightning is not installed
        def __init__(self):
            super().__init__()
            self.net = net

        def _scored(self, batch):
            logits, targets = self.net(batch[0]), batch[1].flatten()
            return logits.flatten(0, -2), targets

        def training_step(self, batch, index):
            return F.cross_entropy(*self._scored(batch))

        def validation_step(self, batch, index):
            logits, targets = self._scored(batch)
            self.log("val_loss", F.cross_entropy(logits, targets))
            self.log("val_accuracy", (logits.argmax(1) == targets).float().mean())

        def configure_optimizers(self):
            return optimizer(self.parameters())

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    return Module()


def quietly(work):
    """Hand a fresh trainer to ``work``."""
    import lightning as pl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work(pl.Trainer(max_epochs=1, accelerator="cpu", **OFF))
