"""What tests of a binding, and of an agent with memory, are made of; needs pytest."""

from assay.testing.composer import ScriptedComposer
from assay.testing.contract import AdapterContract, deviates
from assay.testing.harness import Capability, ControlFlow, Entry, Harness, Outcome
from assay.testing.plain import PlainHarness
from assay.testing.plugin import assay_store
from assay.testing.requirements import require
from assay.testing.script import Call, Compose, Fail, HandOff, Meet, Message, Prompt, Say, Script
from assay.testing.tapped import FaultyStore

__all__ = [
    "AdapterContract",
    "Call",
    "Capability",
    "Compose",
    "ControlFlow",
    "Entry",
    "Fail",
    "FaultyStore",
    "HandOff",
    "Harness",
    "Meet",
    "Message",
    "Outcome",
    "PlainHarness",
    "Prompt",
    "Say",
    "Script",
    "ScriptedComposer",
    "assay_store",
    "deviates",
    "require",
]
