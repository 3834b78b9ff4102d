"""What a sandbox costs, measured. `run.py` compares, `steps.py` takes a box start apart."""
