"""The rules of a wrap: one pure function per file, from frozen data to verdicts."""
