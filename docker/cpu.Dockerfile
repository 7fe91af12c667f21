# The image for machines without a GPU; built in a folder of scripts/carry.sh, see docs/offline.md.
# Not the slim variant: it lacks libnuma, which vLLM for CPUs is linked with.
FROM python:3.11-bookworm

COPY --chmod=755 contested /opt/contested

RUN --network=none --mount=type=bind,target=/carried \
    PIP_NO_CACHE_DIR=1 bash /opt/contested/scripts/install_offline.sh /carried --without-models && \
    mkdir -m 1777 /opt/contested/caches

# The root file system is read-only: what is written goes to /work, kernels that a server compiled to
# caches and, for a while, all else to /tmp.
ENV PATH=/opt/contested/.venv/bin:$PATH CONTESTED_HOME=/work/.contested HOME=/tmp USER=contested
WORKDIR /work
USER 1000:1000
ENTRYPOINT ["/opt/contested/docker/entrypoint.sh"]
CMD ["contested", "doctor"]
