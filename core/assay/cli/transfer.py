"""`assay backup`, `restore`, `export`, `import` and `migrate`: taking a store elsewhere, and bringing it back."""

from __future__ import annotations

from pathlib import Path

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import NO, YES, Reply, as_json
from assay.errors import StorageFailure
from assay.model.labels import Trust

__all__ = ["add"]

_LOWER = (Trust.AGENT, Trust.TOOL, Trust.EXTERNAL)


def add(grammar: Grammar) -> None:
    """Add the commands."""
    backup = grammar.command("backup", _backup, "copy the store while it is in use, and verify the copy")
    backup.add_argument("path", help="the file to create; its checkpoint is written beside it")
    restore = grammar.command("restore", _restore, "let a backup take the place of the store")
    restore.add_argument("backup", help="the backup")
    restore.add_argument("--accept-rollback", action="store_true", help="although the store or an anchor is newer")
    restore.add_argument("--anchors", metavar="FILE", help="checkpoints that were kept elsewhere")
    export = grammar.command("export", _export, "write everything but secrets into a new file")
    export.add_argument("path", help="the file to create")
    export.add_argument(
        "--format", choices=("jsonl", "markdown", "sqlite"), default="jsonl", help="jsonl can be imported again"
    )
    bring = grammar.command("import", _import, "bring in an export, or lines of JSON")
    bring.add_argument("path", help="the file")
    bring.add_argument("--from", dest="program", choices=("anneal-memory", "brainmem"), help="whose database it is")
    bring.add_argument("--trust", choices=[label.value for label in _LOWER], help="of lines that name none")
    migrate = grammar.command("migrate", _migrate, "bring an older store to the schema of this version")
    migrate.add_argument("--dry-run", action="store_true", help="try it on a copy, and verify that")


def _backup(call: Call) -> Reply:
    with call.reading() as store:
        made = store.transfer.backup(Path(call.options.path).expanduser())
    text = f"{made.path}: {made.size:,} bytes, verified, {made.entries} entries, root {made.root[:16]}"
    return Reply({"backup": as_json(made)}, text)


def _restore(call: Call) -> Reply:
    from assay.transfer.restore import restore

    done = restore(
        str(Path(call.options.backup).expanduser()),
        call.path,
        actor="operator",
        principal="cli",
        accept_rollback=call.options.accept_rollback,
        anchors=call.options.anchors,
    )
    lines = [f"restored {done.path}: the log has {done.entries} entries"]
    if done.kept:
        lines.append(f"what was there is kept as {done.kept}; remove it when you no longer need it")
    if done.erased:
        lines.append(f"{len(done.erased)} episodes had been erased since the backup, and were erased again")
    return Reply({"restored": as_json(done)}, "\n".join(lines))


def _export(call: Call) -> Reply:
    path = Path(call.options.path).expanduser()
    with call.reading() as store:
        if call.options.format == "sqlite":
            made = store.transfer.backup(path)
            return Reply({"exported": as_json(made)}, f"{made.path}: {made.size:,} bytes, verified")
        write = store.transfer.export_jsonl if call.options.format == "jsonl" else store.transfer.export_markdown
        written = write(path)
    return Reply({"exported": as_json(written)}, f"{written.path}: {written.lines:,} lines, {written.size:,} bytes")


def _import(call: Call) -> Reply:
    path, trust, program = Path(call.options.path).expanduser(), call.options.trust, call.options.program
    with call.writing() as store:
        if program is None:
            done = store.transfer.import_jsonl(path, trust=trust)
        else:
            done = store.transfer.import_from(program, path, trust=trust)
    how = "as they were, with what is believed on them" if done.whole else "as new ones, of origin import"
    lines = [f"{done.added:,} episodes imported {how}; {done.present:,} were held already"]
    if done.lowered:
        lines.append(f"{done.lowered:,} claimed more trust than an import is given here: lowered")
    if done.left_out:
        lines.append("left out: " + ", ".join(f"{count:,} {kind}" for kind, count in done.left_out.items()))
    return Reply({"imported": as_json(done)}, "\n".join(lines))


def _migrate(call: Call) -> Reply:
    from assay.storage.condition import examine
    from assay.storage.schema import SCHEMA_VERSION
    from assay.transfer.rehearsing import rehearse

    if not Path(call.path).exists():
        raise StorageFailure(f"{call.path} does not exist: create it with `assay init`, or name another with --db")
    found = examine(call.path).schema
    data = {"from": found, "to": SCHEMA_VERSION}
    if found == SCHEMA_VERSION:
        return Reply({**data, "verified": True}, f"schema {found} is the newest that this version knows")
    if call.options.dry_run:
        checked = rehearse(call.path)
        text = f"schema {found} becomes {SCHEMA_VERSION} on a copy, which then is {checked}"
        return Reply({**data, "verified": checked.valid}, text, YES if checked else NO)
    with call.writing() as store:
        checked = store.verify()
    text = f"schema {found} became {SCHEMA_VERSION}; the store is {checked}"
    return Reply({**data, "verified": checked.valid}, text, YES if checked else NO)
