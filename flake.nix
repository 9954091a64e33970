{
  description = "kubectl-crdx: shows what the Kubernetes API server would do with a custom resource";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forEachSystem = build: nixpkgs.lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
      cargo = builtins.fromTOML (builtins.readFile ./Cargo.toml);
    in
    {
      packages = forEachSystem (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "kubectl-crdx";
          inherit (cargo.workspace.package) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          # The tests need kubectl, Go and recorded answers; the release runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            install -m 755 plugin-manifest/kubectl_complete-crdx $out/bin/
          ''
          + pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            for shell in bash zsh fish; do
              $out/bin/kubectl-crdx completion $shell >kubectl-crdx.$shell
            done
            installShellCompletion kubectl-crdx.{bash,zsh,fish}
          '';
          meta = {
            description = "Shows what the Kubernetes API server would do with a custom resource";
            homepage = cargo.workspace.package.repository;
            license = pkgs.lib.licenses.asl20;
            mainProgram = "kubectl-crdx";
          };
        };
      });

      devShells = forEachSystem (pkgs: {
        default = pkgs.mkShell { packages = [ pkgs.rustup ]; };
      });
    };
}
