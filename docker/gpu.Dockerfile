# The image for machines with NVIDIA GPUs; built in a folder of scripts/carry.sh, see docs/offline.md.
# The tag of vLLM's release, which is built with CUDA 13.0.
FROM vllm/vllm-openai:v0.32.0

COPY --chmod=755 contested /opt/contested

# vLLM and torch are there: pip installs what of the lock the image has not, or in another version.
RUN --network=none --mount=type=bind,target=/carried \
    python3 -m venv --system-site-packages /opt/contested/.venv && \
    PIP_NO_CACHE_DIR=1 bash /opt/contested/scripts/install_offline.sh /carried --without-models && \
    mkdir -m 1777 /opt/contested/caches

# The root file system is read-only: what is written goes to /work, kernels that a server compiled to
# caches and, for a while, all else to /tmp.
ENV PATH=/opt/contested/.venv/bin:$PATH CONTESTED_HOME=/work/.contested HOME=/tmp USER=contested
WORKDIR /work
USER 1000:1000
ENTRYPOINT ["/opt/contested/docker/entrypoint.sh"]
CMD ["contested", "doctor"]
