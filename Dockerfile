# Two images with the static program and CA certificates; both run as a user without rights. scripts/image.sh writes the files, and the
# release workflow builds the images:
#
#   docker run --rm -v "$PWD:/work" ghcr.io/OWNER/kubectl-crdx validate --offline .
#
# The first has nothing else: no shell, kubectl, helm, git and credential plugins. Commands that need one of these (--render,
# --old git:REF, kubeconfigs with `exec`) end with exit code 2. The second, with the suffix -ci, has a shell, git, helm and kustomize,
# and no entry point, for jobs of GitLab and steps of Tekton.
FROM debian:12-slim AS ci
ARG TARGETARCH
ARG VERSION
ARG REVISION
ARG CREATED
ARG REPOSITORY=https://github.com/OWNER/kubectl-crdx
LABEL org.opencontainers.image.title="kubectl-crdx-ci" \
    org.opencontainers.image.description="kubectl-crdx with a shell, git, helm and kustomize, for jobs of pipelines" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.url="${REPOSITORY}" \
    org.opencontainers.image.source="${REPOSITORY}" \
    org.opencontainers.image.documentation="${REPOSITORY}/blob/${REVISION}/docs/validate-in-ci.md" \
    org.opencontainers.image.base.name="docker.io/library/debian:12-slim" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.created="${CREATED}"
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
COPY dist/image/${TARGETARCH}/ /
COPY dist/image/${TARGETARCH}-ci/ /
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
ENV HOME=/tmp
WORKDIR /work
USER 65532:65532
CMD ["/bin/bash"]

FROM scratch AS minimal
ARG TARGETARCH
ARG VERSION
ARG REVISION
ARG CREATED
ARG REPOSITORY=https://github.com/OWNER/kubectl-crdx
LABEL org.opencontainers.image.title="kubectl-crdx" \
    org.opencontainers.image.description="Shows what the Kubernetes API server would do with a custom resource" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.url="${REPOSITORY}" \
    org.opencontainers.image.source="${REPOSITORY}" \
    org.opencontainers.image.documentation="${REPOSITORY}/blob/${REVISION}/README.md" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.created="${CREATED}"
COPY dist/image/${TARGETARCH}/ /
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/kubectl-crdx"]
