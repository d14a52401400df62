"""Claims about stems, and about what loading them costs."""

import subprocess
import sys

import snowballstemmer

from assay.text.script import Script
from assay.text.stems import stem


def test_a_stem_is_snowballs_own() -> None:
    for script, language, listed in (
        (Script.LATIN, "english", "deployments configured running databases general"),
        (Script.CYRILLIC, "russian", "серверов базы настроенный"),
        (Script.GREEK, "greek", "εφαρμογες δεδομενα"),
        (Script.DEVANAGARI, "hindi", "उपयोगकर्ताओं मशीनें"),
    ):
        worker = snowballstemmer.stemmer(language)
        for word in listed.split():
            assert stem(word, script) == worker.stemWord(word)


def test_a_word_with_a_digit_and_a_word_of_another_script_are_their_own_stems() -> None:
    assert stem("servers2", Script.LATIN) == "servers2"
    assert stem("数据", Script.HAN) == "数据"


def test_importing_the_room_loads_no_stemmer_and_one_question_loads_one() -> None:
    program = (
        "import sys, assay.text\n"
        "loaded = lambda: sorted(name for name in sys.modules if 'snowball' in name)\n"
        "assert loaded() == [] and 'asyncio' not in sys.modules and 'importlib.resources' not in sys.modules\n"
        "assay.text.terms('the servers failed')\n"
        "assert [name.rpartition('.')[2] for name in loaded() if name.endswith('_stemmer')] == ['english_stemmer']\n"
        "assert 'snowballstemmer' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
