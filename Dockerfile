# An image with the static program and CA certificates only; it runs as a user without rights. Not inside: a shell, kubectl,
# helm, git and credential plugins. Commands that need one of these (--render, --old git:REF, kubeconfigs with `exec`) end
# with exit code 2.
#
# scripts/image.sh writes the files, and the release workflow builds the image:
#
#   docker run --rm -v "$PWD:/work" ghcr.io/OWNER/kubectl-crdx validate --offline .
FROM scratch
ARG TARGETARCH
COPY dist/image/${TARGETARCH}/ /
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/kubectl-crdx"]
