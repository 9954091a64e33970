#!/usr/bin/env python3
"""Issues random certificates to PodCertificateRequests on the real kube-apiserver and on that of envtest, and counts the responses that differ.

usage: pod_certificates.py FOLDER --envtest FOLDER [--count 1000] [--seed 1]

FOLDER has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh builds them), --envtest names the folder that `kubectl crdx envtest` printed. Every
write of a status is a dry run. The certificates differ in their keys, names, times and chains. The responses differ in their code or causes.
"""
import base64, collections, datetime, json, os, random, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import control_plane

PATH = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests"
CONFIGURATION = """[ca]
default_ca = own
[own]
database = {work}/index
serial = {work}/serial
new_certs_dir = {work}
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""
NAMES = ["", "DNS:a.example.com", "DNS:a.example.com,email:a@example.com", "DNS:.a", "DNS:a.", "DNS:a..b", "email:a", "email:@b", "DNS:..,email:a@"]
KEYS = {"P-256": ["ec", "ec_paramgen_curve:P-256"], "P-384": ["ec", "ec_paramgen_curve:P-384"], "RSA": ["rsa", "rsa_keygen_bits:3072"], "Ed25519": ["ed25519", None]}
JUNK = ["-----BEGIN KEY-----\nYQ==\n-----END KEY-----\n", "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n", "text\n", ""]


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


class Authority:
    """Issues certificates with any times."""

    def __init__(self, work):
        self.work = work
        for name, text in [("index", ""), ("serial", "01"), ("ca.cnf", CONFIGURATION.format(work=work))]:
            with open(f"{work}/{name}", "w") as out:
                out.write(text)
        for name, (algorithm, option) in KEYS.items():
            openssl("req", "-new", "-newkey", algorithm, *(["-pkeyopt", option] if option else []), "-nodes", "-subj", "/CN=a", "-keyout", f"{work}/{name}.key", "-out", f"{work}/{name}.csr")
        openssl("req", "-x509", "-key", f"{work}/P-256.key", "-days", "2", "-subj", "/CN=authority", "-out", f"{work}/ca.crt")

    def request(self, key):
        return openssl("req", "-in", f"{self.work}/{key}.csr", "-outform", "DER")

    def issue(self, key, names, start, end):
        with open(f"{self.work}/names", "w") as out:
            out.write(f"subjectAltName={names}\n" if names else "")
        times = ["-startdate", f"{start:%Y%m%d%H%M%SZ}", "-enddate", f"{end:%Y%m%d%H%M%SZ}"]
        openssl("ca", "-batch", "-notext", "-config", f"{self.work}/ca.cnf", "-cert", f"{self.work}/ca.crt", "-keyfile", f"{self.work}/P-256.key", *times,
                "-extfile", f"{self.work}/names", "-in", f"{self.work}/{key}.csr", "-out", f"{self.work}/issued")
        with open(f"{self.work}/issued") as issued:
            return issued.read()


def status(chance, authority, key):
    """A status with a certificate that is valid in about one of three cases."""
    wrong = lambda right, others: chance.choice(others) if chance.random() < 0.12 else right
    seconds = lambda number: datetime.timedelta(seconds=number)
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    start = now + seconds(wrong(chance.choice([0, -120, 120]), [-400, 400, -86400]))
    end = start + seconds(wrong(chance.choice([3600, 43200, 86400]), [1800, 3599, 86401, 100000]))
    chain = wrong("", JUNK) + authority.issue(wrong(key, list(KEYS)), wrong(chance.choice(NAMES[:3]), NAMES), start, end)
    chain += chance.choice(["", wrong("", JUNK), authority.issue("P-256", "", start, end)])
    shown = lambda time: f"{time:%Y-%m-%dT%H:%M:%SZ}"
    refresh = wrong(start + (end - start) / 2, [start, start + seconds(599), start + seconds(600), end - seconds(600), end - seconds(599), end])
    fields = {"notBefore": shown(wrong(start, [start + seconds(1), now])), "notAfter": shown(wrong(end, [end + seconds(1)])), "beginRefreshAt": shown(refresh), "certificateChain": wrong(chain, JUNK)}
    for name in list(fields):
        if chance.random() < 0.02:
            del fields[name]
    return {"conditions": [{"type": "Issued", "status": "True", "reason": "A", "message": "m", "lastTransitionTime": shown(now)}], **fields}


def main():
    args = control_plane.random_parser(__doc__).parse_args()
    chance, work = random.Random(args.seed), tempfile.mkdtemp(prefix="certificates-")
    authority = Authority(work)
    spec = {"signerName": "example.com/s", "podName": "p", "podUID": "u", "serviceAccountName": "s", "serviceAccountUID": "u", "nodeName": "n", "nodeUID": "u", "maxExpirationSeconds": 86400}
    with control_plane.real_and_simulated(args.folder, args.envtest, work) as servers:
        for key in KEYS:
            stub = base64.b64encode(authority.request(key)).decode()
            given = {"apiVersion": "certificates.k8s.io/v1", "kind": "PodCertificateRequest", "metadata": {"name": key.lower()}, "spec": {**spec, "stubPKCS10Request": stub}}
            for server in servers:
                code, answer, _ = server.send("POST", PATH, json.dumps(given), {"Content-Type": "application/json"})
                assert code == 201, answer
        counts, differing = collections.Counter(), 0
        for _ in range(args.count):
            key = chance.choice(list(KEYS))
            body = json.dumps({"status": status(chance, authority, key)})
            answers = []
            for server in servers:
                code, answer, _ = server.send("PATCH", f"{PATH}/{key.lower()}/status?dryRun=All", body, {"Content-Type": "application/merge-patch+json"})
                causes = (answer.get("details") or {}).get("causes") or []
                answers.append((code, sorted((cause.get("field"), cause.get("message")) for cause in causes)))
            counts[answers[0][0]] += 1
            for _, message in answers[0][1]:
                counts[message.rsplit(": ", 1)[-1][:90]] += 1
            if answers[0] != answers[1]:
                differing += 1
                print(body[:300], *(str(answer)[-600:] for answer in answers), sep="\n    ")
    print(f"{args.count} certificates, {differing} differ: {dict(counts)}")


if __name__ == "__main__":
    main()
