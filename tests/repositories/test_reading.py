"""python3 -m unittest discover tests/repositories"""
import unittest
import documents, kubectl, verdicts


class Reading(unittest.TestCase):
    def test_documents_are_separated_as_by_kubectl(self):
        text = "# only a comment\n---\na: 1\n--- # comment\nb: '---'\n---\n\n---\nc: |\n  ---\n"
        self.assertEqual(documents.separate(text), [(3, "---\na: 1"), (5, "---\nb: '---'"), (9, "---\nc: |\n  ---\n")])

    def test_a_separator_with_text_is_part_of_a_document(self):
        self.assertEqual(len(documents.separate("a: 1\n--- b: 1\n")), 1)

    def test_json_values_follow_each_other(self):
        self.assertEqual(documents.separate('{"a": 1}\n{"b": 2}\n---\nc: 3'), [(1, '{"a": 1}'), (2, '{"b": 2}'), (4, "---\nc: 3")])

    def test_no_round_has_an_object_twice(self):
        given = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}} for name in ("a", "b", "a")]
        numbered = {number: documents.Document("", "", [each]) for number, each in enumerate(given)}
        self.assertEqual([list(each) for each in documents.rounds(numbered)], [[0, 1], [2]])

    def test_errors_are_found_by_the_number_of_the_document(self):
        text = (
            'Warning: x\n[unable to decode "/x/000001.yaml": a, resource mapping not found for name: "b" namespace: "" from "/x/000002.yaml": no matches for kind "B" in version "c"\n'
            'ensure CRDs are installed first]\nError from server (Invalid): error when creating "/x/000003.yaml": d\ne\nfrom f-: cannot use generate name with apply\n'
        )
        found, others = kubectl.errors(text)
        self.assertEqual({number: kubectl.message(error) for number, error in found.items()}, {1: "unable to decode: a", 2: 'no matches for kind "B" in version "c"', 3: "d\ne"})
        self.assertEqual(others, ["from f-: cannot use generate name with apply"])
        found, others = kubectl.errors('[unable to decode "/x/000001.yaml": a, unable to get type info from the object "b": c]')
        self.assertEqual((found, others), ({1: 'unable to decode "/x/000001.yaml": a'}, ['unable to get type info from the object "b": c']))

    def test_an_error_before_a_request_is_one_error(self):
        text = 'error when retrieving current configuration of:\nResource: "a"\nName: "", Namespace: "b"\nfrom server for: "/x/000007.yaml": resource name may not be empty\n'
        found, others = kubectl.errors(text)
        self.assertEqual(({number: kubectl.message(error) for number, error in found.items()}, others), ({7: "resource name may not be empty"}, []))

    def test_only_allocated_values_that_are_not_shown_are_left_out(self):
        service = {"kind": "Service", "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "type": "NodePort", "ports": [{"port": 1, "nodePort": 30001}, {"port": 2, "nodePort": 30002}]}}
        shown = {"kind": "Service", "spec": {"ports": [{"port": 1}, {"port": 2, "nodePort": 30003}]}}
        self.assertEqual(verdicts.without_allocated(service, shown), {"kind": "Service", "spec": {"type": "NodePort", "ports": [{"port": 1}, {"port": 2, "nodePort": 30002}]}})
        labels = {"app": "a", "job-name": "j", "controller-uid": "u"}
        job = {"kind": "Job", "metadata": {"labels": labels}, "spec": {"selector": {}, "template": {"metadata": {"labels": {"job-name": "j"}}}}}
        self.assertEqual(verdicts.without_allocated(job, {"spec": {}}), {"kind": "Job", "metadata": {"labels": {"app": "a"}}, "spec": {"template": {"metadata": {}}}})
        self.assertEqual(verdicts.without_allocated(job, job), job)

    def test_the_file_of_an_unsent_object_is_no_part_of_the_message(self):
        text = 'error: error when retrieving current configuration of:\nResource: "a"\nName: "", Namespace: "b"\nfrom server for: "c": resource name may not be empty'
        self.assertEqual(kubectl.message(text), "resource name may not be empty")
        self.assertEqual(kubectl.message('error validating "a": error validating data: b'), "error validating: error validating data: b")


if __name__ == "__main__":
    unittest.main()
