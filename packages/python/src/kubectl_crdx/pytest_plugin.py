"""The fixtures of pytest: ``crdx_server`` is a Kubernetes API server with a state of its own for each test.

In the settings of pytest, ``crdx_crds`` lists files and directories with CRDs and objects for all tests, and ``crdx_flags`` the flags
of ``kubectl crdx serve``. ``@pytest.mark.crdx("more/crds")`` loads others for one test. Paths are relative to the settings.
"""

import pytest

from . import Servers


def pytest_addoption(parser):
    parser.addini("crdx_crds", "files and directories with CRDs and objects for crdx_server", type="args", default=[])
    parser.addini("crdx_flags", "flags of kubectl crdx serve for crdx_server", type="args", default=["--builtin"])


def pytest_configure(config):
    config.addinivalue_line("markers", "crdx(*paths): files and directories that crdx_server loads for this test")


@pytest.fixture(scope="session")
def crdx_servers(pytestconfig):
    """The process that starts the servers, once per session."""
    with Servers(*pytestconfig.getini("crdx_flags")) as servers:
        yield servers


@pytest.fixture
def crdx_server(crdx_servers, request):
    """A server for one test: ``url``, ``kubeconfig``, ``kubeconfig_file``, and ``client`` if the official client is installed."""
    marked = [path for mark in request.node.iter_markers("crdx") for path in mark.args]
    paths = [request.config.rootpath / path for path in [*request.config.getini("crdx_crds"), *marked]]
    with crdx_servers.new(*paths) as server:
        yield server
