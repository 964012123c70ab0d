"""Made-up records of the image sweep with known effects. Not a test."""

import math

import numpy as np
from grids import template

LIFT = {"relu": 0.0, "geglu_equal_width": 3.0, "geglu_equal_parameters": -1.0}
SIZE = {"relu": 794, "geglu_equal_width": 1578, "geglu_equal_parameters": 794}


def record(network, hidden, rate, batch, dataset="mnist", lift=LIFT, epochs=1):
    """Ten seeds; accuracy = 49 + hidden + epochs + lift + an effect of the seed that all arms share."""
    shared = np.random.default_rng(batch).normal(0, 2, 10)
    noise = np.random.default_rng(sum(map(ord, network)) + hidden + 100 * (epochs - 1)).normal(0, 0.1, 10)
    accuracies = 49 + hidden + lift[network] + shared + noise
    lost = rate == 0.1 and network != "relu"
    trials = [
        {
            "seed": 42 + i,
            "label": str(42 + i),
            "status": "done",
            "collapsed": lost,
            "val_accuracy": accuracies[i] + epochs,
            "val_loss": math.log(10) if lost and i == 0 else 1.0,
            "test_accuracy": accuracies[i] + 0.5,
        }
        for i in range(10)
    ]
    made = template("mnist") | {"activation": network, "network": network, "n_parameters": SIZE[network] * hidden}
    made["config"] |= {
        "hidden": hidden,
        "learning_rate": rate,
        "batch_size": batch,
        "epochs": epochs,
        "dataset": dataset,
    }
    return made | {"arm": f"{network}-{hidden}-{rate:g}-{batch}-{epochs}", "trials": trials}


def records(**more):
    """Every published cell, and relu's of two units at every rate and batch size."""
    rates = [("relu", 2, rate, batch) for rate in (0.1, 0.01, 0.001, 0.0001) for batch in (8, 64)]
    cells = [(n, h, 0.001, 64) for n in LIFT for h in (2, 4, 8, 16)]
    return [record(*cell, **more) for cell in dict.fromkeys([*cells, *rates])]


def longer(epochs, **more):
    return [record(n, h, 0.001, 64, epochs=epochs, **more) for n in LIFT for h in (2, 4, 8, 16)]
