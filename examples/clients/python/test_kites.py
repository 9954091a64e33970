"""How to test against `kubectl crdx serve`, here with the official client (`pip install kubernetes`).

Run it as `python test_kites.py [PATH OF kubectl-crdx]`, or with pytest.
"""
import os, subprocess, sys, unittest
from kubernetes import client
from kubernetes.client.rest import ApiException

CRD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kites.crd.yaml")
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else "kubectl-crdx"
WHERE = ("toys.example.com", "v1", "default", "kites")


class Kites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve = subprocess.Popen([PROGRAM, "serve", "--load", CRD], stdout=subprocess.PIPE, text=True)
        configuration = client.Configuration()
        configuration.host = cls.serve.stdout.readline().strip()  # the first line is the URL
        cls.objects = client.CustomObjectsApi(client.ApiClient(configuration))

    @classmethod
    def tearDownClass(cls):
        cls.serve.kill()
        cls.serve.wait()
        cls.serve.stdout.close()

    def kite(self, name, length):
        body = {"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": name}, "spec": {"length": length}}
        return self.objects.create_namespaced_custom_object(*WHERE, body)

    def test_colour_is_defaulted(self):
        self.assertEqual(self.kite("a", 3)["spec"], {"length": 3, "colour": "red"})

    def test_length_is_positive(self):
        with self.assertRaises(ApiException) as refused:
            self.kite("b", 0)
        self.assertEqual(refused.exception.status, 422)


if __name__ == "__main__":
    unittest.main()
