"""Honest evidence, as hard as it comes: short facts, code, other scripts, rewording, corrections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..wrap.scene import Scene, cite
from .statements import statements
from .variants import swapped

__all__ = ["Control", "controls", "group_of", "promoted"]

# Languages of which there are few controls stand together with those that are built alike.
_GROUPS = {
    "Romance": ("it", "pt", "ro"),
    "Germanic": ("nl", "sv", "da"),
    "Slavic": ("uk", "pl", "cs", "bg"),
    "Semitic and Persian": ("he", "fa"),
    "Indian": ("hi", "bn", "ta"),
    "South-East Asian": ("th", "vi", "id"),
    "Others": ("el", "fi", "hu", "ka"),
}

_MORE = (
    ("en", "port 5432", "port 5432 is the database port", "psql connects to port 5432 here"),
    ("en", "Elena owns the billing service", "Elena owns the billing service", "Ask Elena about billing, she owns it"),
    ("en", "Ada is vegan", "Ada is vegan", "Dinner for Ada: she is strictly vegan, as told"),
    ("en", "fetch_user() needs timeout=30 in client.py", "fetch_user() in client.py fails unless timeout=30 is passed",
     "Set timeout=30 for fetch_user() in client.py, the default hangs"),
    ("en", "logs are in /var/log/app", "Application logs are in /var/log/app",
     "Found the logs, they are in /var/log/app on host two"),
    ("en", "run `make test` before push", "Always run `make test` before you push",
     "After the red build Bob will run `make test` before each push"),
    ("en", "Friday deploys of the billing service are rolled back", "The billing service was deployed on Friday and had"
     " to be rolled back", "Checkout broke, so the Friday deploy of the billing service was rolled back again"),
    ("en", "the staging database is rebuilt nightly", "We rebuild the staging database nightly",
     "Data vanished because the staging database gets rebuilt nightly"),
    ("en", "alerts go to the #oncall channel, not by e-mail", "Alerts go to the #oncall channel, not by e-mail",
     "Bob muted e-mail: alerts go to #oncall, not by e-mail"),
    ("en", "do not merge without a review", "Do not merge without a review", "Carol: do not merge without any review"),
    ("en", "the importer cannot read UTF-16 files", "The importer cannot read UTF-16 files",
     "A UTF-16 file broke it again, the importer cannot read such files"),
    ("en", "secrets live in the vault: never in the repository", "Secrets live in the vault, never in the repository",
     "After the leak Bob repeats: secrets live in the vault, never in the repository"),
    ("de", "Deployments am Freitag scheitern bei kaltem Cache", "Am Freitag sind Deployments bei kaltem Cache"
     " gescheitert", "Der kalte Cache ließ am Freitag wieder alle Deployments scheitern, sagt Bob"),
    ("de", "der Build dauert 12 Minuten", "Der Build dauert 12 Minuten",
     "Gemessen: 12 Minuten, so lange dauert der Build auf der CI"),
    ("fr", "le café ferme à 18h", "Le café ferme à 18h le vendredi", "Paul est arrivé trop tard, le café ferme à 18h"),
    ("es", "las pruebas se ejecutan antes de publicar", "Las pruebas se ejecutan antes de publicar",
     "Marta insiste: antes de publicar se ejecutan siempre las pruebas"),
    ("zh", "周五部署时缓存是冷的会导致回滚", "周五部署时缓存是冷的，结果回滚了",
     "鲍勃说周五部署因为冷缓存又发生回滚，缓存是冷的"),
    ("zh", "按鈕的顏色是綠色", "設計稿裡按鈕的顏色是綠色", "客戶確認按鈕要用綠色這個顏色"),
    ("zh", "用Postgres作为数据库", "我们用Postgres作为数据库", "架构评审确认：继续用Postgres作为数据库"),
    ("ja", "会議は毎週月曜日に開く", "会議は毎週月曜日に開く", "田中さんも会議は毎週月曜日に開くと言った"),
    ("ja", "金曜日のデプロイはキャッシュが冷たいと失敗する", "金曜日のデプロイはキャッシュが冷たいため失敗した",
     "ボブによると金曜日のデプロイがまた失敗した。キャッシュが冷たい"),
    ("ko", "서버는 밤에 재시작된다", "서버는 밤에 재시작된다", "로그를 보면 서버는 밤에 자동으로 재시작된다"),
    ("ru", "отчёт сдают в понедельник", "Отчёт сдают в понедельник",
     "Мария напомнила: в понедельник сдают отчёт за неделю"),
    ("ru", "деплой в пятницу падает при холодном кэше", "В пятницу деплой упал при холодном кэше",
     "Боб пишет: при холодном кэше деплой в пятницу опять упал ночью"),
    ("ar", "الاجتماع يوم الاثنين", "الاجتماع الأسبوعي يوم الاثنين", "قالت سارة إن الاجتماع صار يوم الاثنين صباحا"),
    ("uk", "звіт здають у понеділок", "Звіт здають у понеділок", "Марія нагадала: у понеділок здають звіт за тиждень"),
    ("el", "η βάση ακούει στη θύρα 5432", "Η βάση ακούει στη θύρα 5432",
     "Σήμερα συνδεθήκαμε στη θύρα 5432, εκεί ακούει η βάση"),
    ("hi", "बैठक सोमवार को होती है", "बैठक सोमवार को होती है", "सीमा ने कहा कि बैठक हर सोमवार को होती है"),
    ("th", "เซิร์ฟเวอร์รีสตาร์ทตอนกลางคืน", "เซิร์ฟเวอร์รีสตาร์ทตอนกลางคืน", "ดูจากบันทึกแล้วเซิร์ฟเวอร์รีสตาร์ทตอนกลางคืนทุกวัน"),
    ("en", "use uv instead of pip in CI", "We switched CI from pip to uv, it is much faster",
     "CI broke because somebody used pip; use uv there"),
    ("en", "large PDF exports time out", "Export of a large PDF timed out",
     "Customer reports a timeout while exporting a large PDF"),
    ("en", "the payment webhook must be idempotent", "Payment webhook was delivered twice and charged double",
     "Make the payment webhook idempotent, it was delivered twice again"),
    ("en", "restart the worker after each migration",
     "After the migration the worker had stale code until we restarted it",
     "Worker crashed post migration, a restart fixed it"),
    ("de", "Kunden wollen die Rechnung als PDF", "Ein Kunde bat um die Rechnung als PDF",
     "Wieder eine Anfrage: Rechnung bitte als PDF, sagen Kunden"),
    ("fr", "les clients préfèrent payer par carte", "La plupart des clients paient par carte",
     "Un client a demandé à payer par carte, il préfère cela"),
    ("es", "el servidor se cae cuando falta memoria", "El servidor se cayó por falta de memoria",
     "Otra caída del servidor: faltaba memoria"),
    ("ru", "после обновления нужно очистить кэш", "После обновления пришлось очистить кэш",
     "Обновили сервис и снова очищали кэш после обновления"),
    ("zh", "数据库迁移要在夜里做", "昨天夜里做了数据库迁移，很顺利", "白天做数据库迁移出了问题，应该在夜里做"),
    ("ja", "大きなファイルのアップロードは失敗する", "大きなファイルをアップロードしたら失敗した",
     "顧客の報告：大きなファイルのアップロードがまた失敗"),
    ("ar", "رفع الملفات الكبيرة يفشل", "فشل رفع ملف كبير اليوم", "أبلغ عميل أن رفع الملفات الكبيرة فشل"),
)  # fmt: skip


@dataclass(frozen=True)
class Control:
    """A claim that two independent episodes truly support."""

    language: str
    claim: str
    first: str
    second: str

    def accepted(self) -> bool:
        """Tell whether it reaches 2x."""
        return promoted(self.claim, self.first, self.second)


def group_of(language: str) -> str:
    """Give the group in which the controls of a language are counted: itself, or those built alike."""
    return next((name for name, members in _GROUPS.items() if language in members), language)


def controls() -> list[Control]:
    """Give the controls: those written by hand, here and in the file, and every third of the corpus."""
    corpus = statements()[1::3]
    rows = (Path(__file__).parent / "data" / "controls.tsv").read_text("utf-8").splitlines()
    listed = [Control(*row) for row in (*_MORE, *(row.split("\t") for row in rows if not row.startswith("#")))]
    listed += {one.claim: Control(one.language, one.claim, one.first, one.second) for one, _ in swapped()}.values()
    return [*listed, *(Control(one.language, one.claim, one.first, one.second) for one in corpus)]


def promoted(claim: str, first: str, second: str, *, words: tuple[str, str] | None = None) -> bool:
    """Tell whether a claim reaches 2x: stated in one session, cited again in another.

    Args:
        words: What the composer says that each of the two shows; their own words by default.
    """
    scene = Scene()
    said = words or (first, second)
    one = scene.say(first)
    scene.save(f"- line: {claim} | 1x {cite(one, words=said[0])}")
    scene.days()
    two = scene.say(second, "s2", "bob")
    scene.save(f"- line: {claim} | 2x {cite(two, words=said[1])} [no-contradicts]")
    level = scene.level("line")
    scene.store.close()
    return level == 2
