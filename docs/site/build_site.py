# Builds the site: all documents, the files that they link to, and pages of examples, which it makes.
# Usage: build_site.py PROGRAM FOLDER; the site is then in FOLDER/site
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [  # title, what it shows, file, words of the program
    ("Pre-training Llama 3 70B on 64 H100", "where a step goes, stage by stage", "run.html",
     ["run", "scenarios/llama3-70b-64xh100.yaml"]),
    ("Llama 3 405B on 16,384 H100", "a pipeline of sixteen stages", "405b.html", ["run", "scenarios/llama3-405b-16384xh100.yaml"]),
    ("A pipeline with a large bubble", "what each change would save", "explain.html",
     ["explain", "scenarios/gpt-pipeline-8xa100.yaml"]),
    ("Eager and graph launches", "two answers, cause by cause", "compare.html",
     ["compare", "scenarios/gpt-launches-8xh100.yaml", "--vs", "host.mode=graph"]),
    ("Sizes of buckets", "one setting and what it is worth", "sweep.html",
     ["sweep", "scenarios/mlp-buckets-8xv100.yaml", "--vary", "parallelism.data.bucket=1MiB..256MiB*2"]),
    ("Predicted against measured", "published runs and their errors", "validate.html",
     ["validate", "validate/suites/korthikanti.yaml", "validate/suites/nemo_2407.yaml"]),
]
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def tracked():
    """The files of the tree, as git lists them."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    return [ROOT / os.fsdecode(name) for name in listed.split(b"\0") if name]


def copy(file, source):
    there = source / file.relative_to(ROOT)
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, there)


def linked(text, document):
    """The text with links that a site can follow, and the files that these lead to."""
    files = []

    def kept(match):
        words, path, rest = match.group(1), match.group(2), match.group(3) or ""
        if "://" in path or path.startswith("mailto:"):
            return match.group(0)
        target = (document.parent / path).resolve()
        if target.is_dir():  # a site has no listings of folders
            target /= "README.md"
            if not target.exists():
                return words
            path = path.rstrip("/") + "/README.md"
        files.append(target)
        return f"[{words}]({path}{rest})"

    return LINK.sub(kept, text), files


def main(program, folder):
    source = folder / "source"
    shutil.rmtree(folder, ignore_errors=True)
    for document in (file for file in tracked() if file.suffix == ".md"):
        text, files = linked(document.read_text(), document)
        there = source / document.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text)
        for file in files:
            if file.suffix != ".md":
                copy(file, source)
    examples = source / "examples"
    examples.mkdir()
    lines = ["# Examples", "", "These pages are what `--html` writes. Each is one file, and opens without this site."]
    for title, what, name, words in EXAMPLES:
        arguments = words + ["--html", str(examples / name)]
        if words[0] == "sweep":
            arguments += ["--db", str(folder / "sweep.db")]
        subprocess.run([program, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        lines += ["", f"## {title}", "", f"`stepsim {' '.join(words)} --html {name}`: {what}. "
                  f"[In a window of its own](examples/{name})", "",
                  f'<iframe src="examples/{name}" title="{title}" loading="lazy" '
                  'style="width:100%;height:640px;border:1px solid #ccc"></iframe>']
    (source / "examples.md").write_text("\n".join(lines) + "\n")
    shutil.copyfile(Path(__file__).parent / "mkdocs.yml", folder / "mkdocs.yml")
    subprocess.run(["mkdocs", "build", "--quiet", "--strict", "-f", str(folder / "mkdocs.yml")], check=True)
    print(f"site in {folder / 'site'}: open {folder / 'site' / 'index.html'}")


main(os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve())
