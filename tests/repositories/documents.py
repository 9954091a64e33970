"""The documents of a folder, separated as kubectl separates them (k8s.io/apimachinery/pkg/util/yaml, YAMLOrJSONDecoder)."""
import dataclasses, json, os

EXTENSIONS = (".yaml", ".yml", ".json")


@dataclasses.dataclass
class Document:
    place: str
    text: str
    # What kubectl reads: one object, several of a list, or none if it cannot read the document.
    objects: list = dataclasses.field(default_factory=list)

    def object(self):
        return self.objects[0] if self.objects else {}


def separate(text):
    """The documents of a file, each with its first line: JSON values as long as they can be read, then YAML."""
    found, at = [], 0
    while text[at:].lstrip().startswith("{"):
        at = len(text) - len(text[at:].lstrip())
        try:
            end = json.JSONDecoder(strict=False).raw_decode(text, at)[1]
        except ValueError:
            break
        found.append((text.count("\n", 0, at) + 1, text[at:end]))
        at = end
    number, lines = text.count("\n", 0, at) + 1, text[at:].split("\n")
    current, first = [], number
    for line in [*lines, "---"]:
        if line.startswith("---") and line[3:].strip()[:1] in ("", "#"):
            if any(each.strip() and not each.lstrip().startswith("#") for each in current):
                # Behind a separator, text that begins with `{` is read as YAML, not as JSON.
                found.append((first, "---\n" + "\n".join(current)))
            current, first = [], number + 1
        else:
            current.append(line)
        number += 1
    return found


def documents(folder):
    """Every document of a folder and its subfolders, in the order of their paths."""
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != ".git")
        for name in sorted(files):
            path = os.path.join(root, name)
            if name.endswith(EXTENSIONS) and os.path.isfile(path):
                with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                    separated = separate(file.read())
                found += [Document(f"{os.path.relpath(path, folder)}:{line}", text) for line, text in separated]
    return found


def write(folder, numbered):
    """Writes documents to files of their own, which are named by the numbers of the documents."""
    os.makedirs(folder)
    for number, document in numbered.items():
        with open(file_of(folder, number), "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(document.text)


def file_of(folder, number):
    return os.path.join(folder, f"{number:06}.yaml")


def identity(given):
    """Equal for two objects that may be the same one for a server. The namespace is left out: whether a kind has one is not known here."""
    metadata = given.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return json.dumps([str(given.get("apiVersion")).split("/")[0], given.get("kind"), name])


def rounds(numbered):
    """Divides documents so that no two of a round have the same object: `validate` would apply the second to the first. Those that kubectl cannot read may have any object."""
    seen, found = {}, []
    unread = {number: document for number, document in numbered.items() if not document.objects}
    for number, document in numbered.items():
        if number in unread:
            continue
        names = [identity(each) for each in document.objects]
        at = max((seen.get(name, 0) for name in names), default=0)
        for name in names:
            seen[name] = at + 1
        while len(found) <= at:
            found.append({})
        found[at][number] = document
    return [*found, unread] if unread else found
