"""The three hosts called AutoGen, each in a module of its own, because no two of them are needed together.

- `assay_integrations.autogen.ag2`: AG2 from 1.0 on (`import ag2`).
- `assay_integrations.autogen.ag2_classic`: AG2 before 1.0 (`import autogen`).
- `assay_integrations.autogen.agentchat`: Microsoft's AutoGen AgentChat (`import autogen_agentchat`).
"""
