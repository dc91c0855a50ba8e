# Nodes of a cluster of Ray, head and workers, with trustream. From the root of a clone:
#   docker build -f deploy/cluster.Dockerfile -t trustream-cluster .
# The version of Ray must be the same on all nodes; that of the base image is the one that counts.
FROM rayproject/ray:2.60.0-py312-cpu
COPY --chown=ray:users pyproject.toml README.md LICENSE /home/ray/src/
COPY --chown=ray:users src /home/ray/src/src
RUN pip install --no-cache-dir "/home/ray/src[cluster,postgres]"
# Kernels are compiled on each host; kept, so that workers that are started again find them.
ENV NUMBA_CACHE_DIR=/home/ray/numba-cache
