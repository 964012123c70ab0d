# Trains on a GPU (NVIDIA's container toolkit on the host):
#   docker build -t actlab .
#   docker run --gpus all -v "$PWD/results:/actlab/results" -v "$PWD/.cache:/actlab/.cache" -v "$PWD/data:/actlab/data" actlab run params/repro-partial.yaml
FROM nvidia/cuda:13.0.2-base-ubuntu24.04
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc git make python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /actlab
COPY . .
# No GPU is seen while the image is built; the second command leaves the bytecode of what it imports.
RUN make install BACKEND=cu130 && .venv/bin/actlab list models > /dev/null
ENTRYPOINT ["/actlab/.venv/bin/actlab"]
