# For a Homebrew tap. scripts/release.sh fills in the repository (from Cargo.toml), the version and the checksums.
class KubectlCrdx < Formula
  desc "Shows what the Kubernetes API server would do with a custom resource"
  homepage "https://github.com/OWNER/kubectl-crdx"
  version "0.1.0"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/OWNER/kubectl-crdx/releases/download/v0.1.0/kubectl-crdx-darwin-arm64.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/OWNER/kubectl-crdx/releases/download/v0.1.0/kubectl-crdx-darwin-amd64.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/OWNER/kubectl-crdx/releases/download/v0.1.0/kubectl-crdx-linux-arm64.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/OWNER/kubectl-crdx/releases/download/v0.1.0/kubectl-crdx-linux-amd64.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "kubectl-crdx", "kubectl_complete-crdx"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"kubectl-crdx", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    (testpath/"settings.yaml").write <<~YAML
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
    YAML
    assert_match "1 accepted", shell_output("#{bin}/kubectl-crdx validate --offline settings.yaml 2>&1")
  end
end
