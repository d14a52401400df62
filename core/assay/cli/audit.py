"""`assay audit`: the log, its checkpoints, and proofs for those who do not trust this machine."""

from __future__ import annotations

import json
from pathlib import Path

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import Reply, as_json, json_text
from assay.errors import InvalidInput
from assay.model.episode import JsonValue

__all__ = ["add"]


def add(grammar: Grammar) -> None:
    """Add the commands."""
    audit = grammar.group("audit", "the log of every change: follow, anchor and prove it")
    entries = audit.command("entries", _entries, "print entries of the log, a line each")
    entries.add_argument("--after", type=int, default=-1, metavar="SEQ", help="only those behind this one")
    entries.add_argument("--limit", type=int, default=1000, metavar="N", help="at most so many (1000)")
    audit.command("checkpoint", _checkpoint, "make a checkpoint and print it")
    anchor = audit.command("anchor", _anchor, "make a checkpoint and append it to a file that others keep")
    anchor.add_argument("file", help="where whoever writes the store cannot write, best on another machine")
    export = audit.command("export", _export, "write a proof that the verifier checks")
    export.add_argument("--proof", metavar="REF", help="of every entry about an item, or of one by its number")
    export.add_argument("--since", metavar="FILE", help="that nothing was changed since the last checkpoint in a file")
    export.add_argument("--content", action="store_true", help="show what the entries wrote, with its salt")
    export.add_argument("--out", metavar="FILE", help="write to a new file rather than to standard output")
    verifier = audit.command("verifier", _verifier, "write out the stand-alone verifier")
    verifier.add_argument("file", nargs="?", default="verify_proof.py", help="the file to create (verify_proof.py)")
    key = audit.command("key", _key, "print the key that signs checkpoints, or bring one into force")
    key.add_argument("file", nargs="?", help="the private key to sign with from here on; created if it is missing")


def _entries(call: Call) -> Reply:
    with call.reading() as store:
        entries = store.audit.entries(call.options.after, limit=call.options.limit)
    return Reply({"entries": as_json(entries)}, "\n".join(json_text(entry) for entry in entries))


def _checkpoint(call: Call) -> Reply:
    with call.writing() as store:
        made = store.audit.checkpoint()
    return Reply({"checkpoint": as_json(made)}, made.note.rstrip("\n"))


def _anchor(call: Call) -> Reply:
    with call.writing() as store:
        made = store.audit.anchor(call.options.file)
    return Reply({"checkpoint": as_json(made)}, f"{call.options.file}: {made.size} entries, root {made.root[:16]}")


def _export(call: Call) -> Reply:
    options = call.options
    if bool(options.proof) == bool(options.since):
        raise InvalidInput("export", "say what to prove: --proof REF or --since FILE")
    with call.reading() as store:
        if options.since:
            bundle = store.audit.consistency(options.since)
        else:
            item = int(options.proof) if options.proof.isdecimal() else options.proof
            bundle = store.audit.prove(item, content=options.content)
    if not options.out:
        return Reply(bundle, json_text(bundle))
    _create(options.out, json.dumps(bundle) + "\n")
    return Reply({"path": options.out}, f"{options.out}: check it with `python verify_proof.py {options.out}`")


def _verifier(call: Call) -> Reply:
    from assay.audit.proofs.bundle import verifier_source

    _create(call.options.file, verifier_source())
    return Reply({"path": call.options.file}, f"{call.options.file}: read it, then run it with any Python from 3.11 on")


def _key(call: Call) -> Reply:
    if call.options.file is None:
        with call.reading() as store:
            key = store.audit.key()
        return _shown(key, key or "no key is in force: `assay audit key FILE` makes one")
    from assay.audit.proofs.signing import Signer

    file = Path(call.options.file).expanduser()
    if file.resolve().parent == Path(call.path).resolve().parent:
        raise InvalidInput(
            "file", "keep the key where the store does not lie: who copies the one must not get the other"
        )
    with call.writing() as store:
        signer = Signer.from_file(file) if file.exists() else Signer.create(file)
        key = store.audit.sign_with(signer)
    return _shown(key, f"{key}\ngive this to whoever checks; sign with ASSAY_SIGNING_KEY={call.options.file}")


def _shown(key: str | None, text: str) -> Reply:
    data: dict[str, JsonValue] = {"key": key}
    return Reply(data, text)


def _create(path: str, text: str) -> None:
    from assay.transfer.writing import write_lines

    file = Path(path).expanduser()
    if file.exists():
        raise InvalidInput("file", f"{path} exists: nothing is overwritten")
    write_lines(str(file), [text.encode("utf-8", "surrogatepass")])
