"""Makes a wheel for one platform of the program that CRDX_BINARY names (a path) and CRDX_PLATFORM (as in plugin-manifest)."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The programs for Linux are static, so they need no C library.
TAGS = {
    "linux-amd64": "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "darwin-amd64": "macosx_10_12_x86_64",
    "darwin-arm64": "macosx_11_0_arm64",
    "windows-amd64": "win_amd64",
    "windows-arm64": "win_arm64",
}


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        binary, platform = os.environ["CRDX_BINARY"], os.environ["CRDX_PLATFORM"]
        name = "kubectl-crdx.exe" if platform.startswith("windows-") else "kubectl-crdx"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + TAGS[platform]
        # pip installs it into the folder for programs.
        build_data["shared_scripts"] = {binary: name}
