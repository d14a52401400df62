"""Every compiled constant of the rules, in one place; a change here is a release note."""

from __future__ import annotations

from datetime import timedelta

# Citations and grounding
SPAN_CHARS = 12
SPAN_WORDS = 3
GROUND_WORDS = 2
GROUND_WEIGHT = 1.0
GROUND_TOP = 0.5
GROUND_COVER = 0.30
CLAIM_COVER = 0.30
COPY_COVER = 0.6
OVERLAP_WORDS = 3
REUSE_LIMIT = 3
POOL_SLACK = 1
MAX_IDS_PER_LINE = 8
MAX_LEVEL_DIGITS = 9
OMISSION_LEVEL = 2
CRYSTALLIZE_LEVEL = 3

# Comparison of texts
CONFLICT_COVER = 0.5
SUCCESSION_COVER = 0.25
LINE_SOURCE_COVER = 0.5
LOOP_COVER = 0.8

# Recall of pinned facts
DURABLE_HITS = 2
COMMON_SHARE = 0.10

# Sizes
MAX_DOCUMENT_BYTES = 256 * 1024
MAX_DOCUMENT_LINES = 10_000
MAX_LINE_CHARS = 8_000
MAX_METADATA_BYTES = 16 * 1024
MAX_METADATA_DEPTH = 32
MAX_LABEL_CHARS = 200
MAX_IDS_PER_CALL = 256
MAX_BELIEF_CHARS = 600
MAX_CUES = 8
INSTRUCTION_TOKENS = 1_500
LIST_MAX = 50
MIN_REF_CHARS = 8

# Shrink floors: share of the prior mass that a section role keeps
SHRINK_MIN_PRIOR_TOKENS = 125
STRICT_FLOORS = {"graduating": 0.50, "narrative-timeless": 0.50, "rest": 0.25}
MILD_FLOORS = {"graduating": 0.40, "decisions": 0.25, "narrative": 0.15}

CLOCK_SKEW = timedelta(seconds=300)
