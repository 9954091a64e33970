"""What the real kubectl says about each of many documents, with few runs of it."""
import json, os, re, subprocess, tempfile
from documents import file_of

MARK = re.compile(r"(\d{6})\.yaml")
# An error of kubectl begins with one of these; other lines continue the error before them.
BEGINNING = re.compile(r"(\[|Error from server|error|Error|The |unable to|resource mapping not found|from (?!server for: )|Warning: )")
# kubectl words a single error in another way than each of several ones. This object always has an error.
SENTINEL = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "sentinel-"}, "unknown": 1}'


class Kubectl:
    def __init__(self, program, kubeconfig, work):
        self.program, self.kubeconfig, self.work = program, kubeconfig, work

    def run(self, *arguments, text=None):
        environment = {**os.environ, "KUBECONFIG": self.kubeconfig, "HOME": self.work, "KUBECACHEDIR": os.path.join(self.work, "cache")}
        return subprocess.run([self.program, *arguments], input=text, capture_output=True, text=True, errors="surrogateescape", env=environment)

    def read(self, folder, numbered):
        """Sets the objects that kubectl reads from each document."""
        self._read(folder, numbered, list(numbered))

    def _read(self, folder, numbered, numbers):
        with Links(folder, numbers) as links:
            # A patch that changes nothing; --local needs no server.
            done = self.run("patch", "--local", "--type=merge", "--patch={}", "--output=json", "--filename", links)
        failed = {int(each) for each in MARK.findall(done.stderr)}
        found, read = json_stream(done.stdout), [each for each in numbers if each not in failed]
        if len(numbers) == 1:
            numbered[numbers[0]].objects = found
        elif len(found) == len(read):
            for number, given in zip(read, found):
                numbered[number].objects = [given]
        else:
            for half in halves(numbers):
                self._read(folder, numbered, half)

    def apply(self, folder, numbered):
        """The error of each document that `kubectl apply --dry-run=server` does not accept.

        `validate` sends an object with only a generateName as `kubectl create` does, and says so; the same is done here."""
        created = [number for number, document in numbered.items() if is_generated(document)]
        lists = [number for number, document in numbered.items() if len(document.objects) > 1]
        found = self._apply("create", folder, created)
        found.update(self._apply("apply", folder, [number for number in numbered if number not in {*created, *lists}]))
        for number in lists:
            found.update(self._apply("apply", folder, [number]))
        return found

    def _apply(self, verb, folder, numbers):
        if not numbers:
            return {}
        with Links(folder, numbers, sentinel=True) as links:
            done = self.run(verb, "--dry-run=server", "--filename", links)
        found, unplaced = errors(done.stderr)
        accepted = done.stdout.count("(server dry run)\n")
        if len(numbers) == 1:
            texts = [*found.values(), *unplaced]
            return {numbers[0]: "\n".join(texts)} if texts else {}
        # An error of an item of a list names no file.
        if len(found) + accepted == len(numbers) and not unplaced:
            return found
        return {number: text for half in halves(numbers) for number, text in self._apply(verb, folder, half).items()}

    def results(self, folder, numbers):
        """The objects as the server would store them, of documents that it accepts; each has one object."""
        if not numbers:
            return {}
        with Links(folder, numbers) as links:
            done = self.run("apply", "--dry-run=server", "--output=json", "--filename", links)
        found = json.loads(done.stdout or "{}")
        found = found.get("items", []) if len(numbers) > 1 else [found]
        if done.returncode == 0 and len(found) == len(numbers):
            return dict(zip(numbers, found))
        # A document may have other objects than kubectl reads with --local.
        return {} if len(numbers) == 1 else {number: each for half in halves(numbers) for number, each in self.results(folder, half).items()}


class Links:
    """A folder with links to some of the files of a folder."""

    def __init__(self, folder, numbers, sentinel=False):
        self.folder, self.numbers, self.sentinel = folder, numbers, sentinel

    def __enter__(self):
        self.links = tempfile.TemporaryDirectory(dir=os.path.dirname(self.folder))
        for number in self.numbers:
            os.symlink(file_of(self.folder, number), file_of(self.links.name, number))
        if self.sentinel:
            with open(os.path.join(self.links.name, "sentinel.json"), "w") as file:
                file.write(SENTINEL)
        return self.links.name

    def __exit__(self, *_):
        self.links.cleanup()


def is_generated(document):
    metadata = document.object().get("metadata")
    return len(document.objects) == 1 and isinstance(metadata, dict) and bool(metadata.get("generateName")) and not metadata.get("name")


def halves(numbers):
    middle = len(numbers) // 2
    return numbers[:middle], numbers[middle:]


def json_stream(text):
    found, at, decoder = [], 0, json.JSONDecoder(strict=False)
    while text[at:].strip():
        at = len(text) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found


def errors(text):
    """The errors that name a document, by its number, and the others."""
    entries = []
    for line in text.split("\n"):
        if BEGINNING.match(line) or not entries:
            entries.append(line)
        else:
            entries[-1] += "\n" + line
    found, unplaced = {}, []
    for entry in [part for entry in entries for part in parts(entry.rstrip("\n"))]:
        numbers = sorted({int(each) for each in MARK.findall(entry)})
        for number in numbers:
            found[number] = "\n".join(filter(None, [found.get(number), entry]))
        if not numbers and entry and "sentinel" not in entry and not entry.startswith("Warning: "):
            unplaced.append(entry)
    return found, unplaced


def parts(entry):
    """kubectl reports the documents that it cannot read as one error: [unable to decode "a": …, unable to decode "b": …]."""
    if not entry.startswith("[") or not entry.endswith("]"):
        return [entry]
    starts = [each.start() + 1 for each in re.finditer(r'(?<=[\[ ])(?=unable to decode "|unable to get type info from |unable to recognize |error parsing |error validating "|resource mapping not found for name)', entry)] or [1]
    return [entry[start - 1 : end].removesuffix(", ").removesuffix("]") for start, end in zip(starts, [*(start - 1 for start in starts[1:]), None])]


def message(error):
    """An error of kubectl without the text that kubectl puts before the message of the server."""
    wrapped = re.findall(r'error when (?:creating|patching) "[^"\n]*": ', error)
    error = error.split(wrapped[-1], 1)[1] if wrapped else error
    error = re.sub(r'(?s)^(error: )?(Error from server \(\w+\): )?error when retrieving current configuration of:.*?from server for: "[^"\n]*": ', '', error)
    error = re.sub(r'^from server for: "[^"\n]*": ', '', error)
    # A result that the server cannot decode is part of its message, with the values that it generated.
    error = re.sub(r'(patch: Invalid value: )"\{.*\}(\\n)?": ', r'\1{…}: ', error)
    # `validate` adds the versions that the CRD serves.
    error = re.sub(r"^(no matches for kind .*): its CRD serves .*$", r"\1", error)
    error = re.sub(r"(?s)^resource mapping not found for name.*?(no matches for kind .*?)\nensure CRDs are installed first$", r"\1", error)
    error = re.sub(r'(unable to decode|error validating) "[^"\n]*": ', r"\1: ", error)
    return re.sub(r"^(error|Error from server \(\w+\)): ", "", error).strip()
