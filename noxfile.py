"""The sessions that check this repository; `nox -l` lists them.

Every framework has an environment of its own, because their pins disagree with one another.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv"
nox.options.sessions = ["lint", "types", "core", "wheel", "adapter", "two_frameworks"]
nox.options.error_on_missing_interpreters = True

HERE = Path(__file__).parent
TOOLS = "constraints/tools.txt"
TWO = "constraints/two-frameworks.txt"
# The frameworks that examples/two_frameworks.py brings together.
BOTH = ("langgraph", "pydantic-ai")
TEST = ("--group", "test")
LINT = ("--group", "lint")


@dataclass(frozen=True)
class Binding:
    """One framework: its folder, the extra that installs it, and the switches that keep it off the network.

    `package` is where the binding lies in `assay_integrations` when several share a folder there.
    """

    folder: str
    extra: str
    offline: dict[str, str] = field(default_factory=dict)
    package: str = ""

    @property
    def constraints(self) -> str:
        """The file of versions that this framework is checked with."""
        return f"constraints/{self.extra}.txt"

    @property
    def sources(self) -> list[str]:
        """What can only be type-checked where the framework is installed."""
        return [
            f"integrations/assay_integrations/{self.package or self.folder}",
            f"tests/integrations/{self.folder}",
            f"examples/{self.folder}_agent.py",
        ]


CLAUDE_CODE_SWITCHES = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
CREWAI_SWITCHES = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}
BINDINGS = (
    Binding("ag2", "ag2", package="autogen/ag2"),
    Binding("ag2_classic", "ag2-classic", {"AUTOGEN_USE_DOCKER": "0"}, package="autogen/ag2_classic"),
    Binding("anthropic_agents", "anthropic-agents", dict.fromkeys(CLAUDE_CODE_SWITCHES, "1")),
    Binding("autogen", "autogen", package="autogen/agentchat"),
    Binding("camel_ai", "camel-ai"),
    Binding("crewai", "crewai", CREWAI_SWITCHES),
    Binding("dspy", "dspy", {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}),
    Binding("langgraph", "langgraph", {"LANGSMITH_TRACING": "false"}),
    Binding("llama_index", "llama-index"),
    Binding("openai_agents", "openai-agents", {"OPENAI_AGENTS_DISABLE_TRACING": "1"}),
    Binding("pydantic_ai", "pydantic-ai"),
    Binding("google_adk", "google-adk"),
    Binding("haystack", "haystack", {"HAYSTACK_TELEMETRY_ENABLED": "False"}),
    Binding("smolagents", "smolagents"),
)
EACH_BINDING = nox.parametrize("binding", [nox.param(binding, id=binding.folder) for binding in BINDINGS])


@nox.session
def lint(session: nox.Session) -> None:
    """Style, format and the arrows between the rooms."""
    session.install("-e", ".", *LINT, "-c", TOOLS)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports", env={"NO_COLOR": "1"})


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly, wherever no framework is needed."""
    session.install("-e", ".", *LINT, *TEST, "nox", "-c", TOOLS)
    paths = ["core", "noxfile.py", *_without_frameworks("tests"), *_without_frameworks("examples")]
    session.run("mypy", *paths)
    session.run("pyright", "--warnings", *paths)


@nox.session
def core(session: nox.Session) -> None:
    """Run every test that needs no framework. `nox -s core -- -k recall` passes its arguments to pytest."""
    session.install("-e", ".", *TEST, "-c", TOOLS)
    session.run("pytest", "-m", "not binding", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Install the built wheel where the sources are out of sight, and start both commands."""
    with tempfile.TemporaryDirectory() as folder:
        session.run("uv", "build", "--wheel", "--quiet", "--out-dir", folder, external=True)
        (built,) = Path(folder).glob("*.whl")
        session.install(str(built), "-c", TOOLS)
        with session.chdir(folder):
            session.run("python", "-c", "import assay; assert 'site-packages' in assay.__file__, assay.__file__")
            for command in ("assay", "assay-memory"):
                session.run(command, "--help", silent=True)


@nox.session
@EACH_BINDING
def adapter(session: nox.Session, binding: Binding) -> None:
    """Check one binding against the newest release of its framework that `constraints/` records."""
    session.install("-e", f".[{binding.extra}]", *TEST, "mypy", "pyright[nodejs]", "-c", binding.constraints)
    session.run("mypy", *binding.sources)
    session.run("pyright", "--warnings", *binding.sources)
    _run_binding(session, binding)


@nox.session(tags=["floor"], default=False)
@EACH_BINDING
def adapter_floor(session: nox.Session, binding: Binding) -> None:
    """Check one binding against the oldest release of its framework that the extra admits.

    `lowest-direct` takes the floors written in pyproject.toml and, for what they depend on, the newest that fits: the
    worst case a user can meet. The test tools come second, so that they do not sink to their floors as well.
    """
    session.install("-e", f".[{binding.extra}]", "--resolution", "lowest-direct")
    session.install(*TEST)
    _run_binding(session, binding)


@nox.session
def two_frameworks(session: nox.Session) -> None:
    """Run the example in which agents of two frameworks share one memory, in an environment that holds both."""
    session.install("-e", f".[{','.join(BOTH)}]", *TEST, "mypy", "pyright[nodejs]", "-c", TWO)
    session.run("mypy", "examples/two_frameworks.py")
    session.run("pyright", "--warnings", "examples/two_frameworks.py")
    session.run(
        *("pytest", "-m", "binding(name='two_frameworks')", "tests/examples", *session.posargs),
        env={"ASSAY_REQUIRE_EXTRAS": ",".join(BOTH), "LANGSMITH_TRACING": "false"},
    )


@nox.session(default=False)
def together(session: nox.Session) -> None:
    """Compare docs/integrations/together.md with what the resolver finds on the package index.

    No other session depends on what is published since: the page is wrong as soon as a framework changes its pins.
    """
    session.install("-e", ".", *TEST, "uv", "-c", TOOLS)
    selected = ("-m", "binding(name='together')", "tests/packaging", *session.posargs)
    session.run("pytest", *selected, env={"ASSAY_ASK_INDEX": "1"})


@nox.session(default=False)
def constraints(session: nox.Session) -> None:
    """Resolve `constraints/*.txt` anew: one file for the tools, one for each binding, one for two together."""
    _compile(session, TOOLS, *LINT, *TEST, "--group", "dev")
    for binding in BINDINGS:
        _compile(session, binding.constraints, "--extra", binding.extra, *TEST, *LINT)
    _compile(session, TWO, *(word for extra in BOTH for word in ("--extra", extra)), *TEST, *LINT)


def _run_binding(session: nox.Session, binding: Binding) -> None:
    session.run(
        "pytest",
        "-m",
        f"binding(name='{binding.folder}')",
        f"tests/integrations/{binding.folder}",
        "tests/docs",
        *session.posargs,
        env={"ASSAY_REQUIRE_EXTRAS": binding.extra, **binding.offline},
    )


def _without_frameworks(folder: str) -> list[str]:
    """List what stands in `folder`, leaving out what is checked beside its framework."""
    elsewhere = {"integrations", "two_frameworks.py", *(f"{binding.folder}_agent.py" for binding in BINDINGS)}
    found = (path for path in (HERE / folder).glob("*") if path.suffix == ".py" or any(path.rglob("*.py")))
    return sorted(f"{folder}/{path.name}" for path in found if path.name not in elsewhere)


def _compile(session: nox.Session, target: str, *selection: str) -> None:
    # Versions alone: no address of an index, so that the file means the same behind a mirror.
    session.run(
        *("uv", "pip", "compile", "pyproject.toml", "--upgrade", "--universal", "--python-version", "3.11"),
        *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--quiet"),
        *selection,
        *("--output-file", target),
        external=True,
    )
