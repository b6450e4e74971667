"""Random documents: any Unicode, and texts built of the pieces that structure rules look for."""

from __future__ import annotations

from hypothesis import strategies as st

_ODD = (
    "\u0301", "\u200b", "\u200d", "\ufeff", "\u00a0", "\u3000", "\u2028", "\u0085", "\x0b", "\x0c", "\r\n", "\r", "\t",
    "\u202b", "\u202c", "👩‍🚒", "🇯🇵", "👍🏻", "é", "ﬁ", "שלום", "مرحبا", "\u00ad", "﷽", "𠀀",
)  # fmt: skip
_PIECES = (
    "# Pumps\n", "## 储存\n", "### \n", "Title\n=====\n", "第3章 储存\n", "第八条　仓库应当干燥。\n", "8.3 Term\n", "（一）总则\n", "Appendix A\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n", "Gas | ppm\n", "a\tb\n", "```py\nx = 1\n```\n", "~~~\n", "    code\n", "- item\n", "1. one\n",
    "   - deeper\n", "> quote\n", "<div>html</div>\n", "<table><tr><td>x</td></tr></table>\n", "---\n", "---\ntitle: x\n---\n", "[a]: http://x\n",
    "The pump is oiled weekly. ", "前款不适用于夜间作业。", "阀门应当关闭，并记录当班人员姓名；", "See Section 8.3. ", "Dr. Li said “go.” ", "v2.4.1 ",
    "\n", "\n\n", "\n \n", " ", "Page 4 of 60\n", "\x0cACME Manual\n", "x" * 50, "长" * 40, '"', "'", ",", "a,b\n", "\\", "`", "<!--", "-->",
)  # fmt: skip

any_text = st.text(st.characters(codec="utf-8"), max_size=400)
texts = st.lists(st.one_of(st.sampled_from(_PIECES), st.sampled_from(_ODD), st.text(max_size=12)), max_size=60).map(
    "".join
)
documents = st.one_of(texts, any_text).filter(lambda text: bool(text.strip()))
