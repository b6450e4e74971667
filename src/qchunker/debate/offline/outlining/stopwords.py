"""Words that say nothing about the subject of a text, and so never stand in a question as its subject."""

from __future__ import annotations

import re

# After one of these a noun phrase begins.
BEFORE_NOUN_EN = frozenset(
    """a an the this these those of in on at by for with from into onto over under between through during its their
    his her our your my any each every no both against within without about per via""".split()
)
# After one of these a verb stands.
BEFORE_VERB_EN = frozenset(
    """i you he she it we they who must shall will would can could may might should do does did not cannot""".split()
)
STOP_EN = BEFORE_NOUN_EN | frozenset(
    """to and or that all some such as than using including contrary rely relies pass passes upon subject results built
    thank thanks thanked drew draw drawn grew grow grown fell fall fallen rose rise risen sold sell bought buy broke
    break broken chose choose chosen spoke speak spoken taught teach caught catch fought fight sought seek cost
    costs hit let lay lie lies hear heard met sat sit won drive driven drove eat eaten ate fly flew forget forgot
    hide hidden shot shoot sing sang sleep slept steal stolen throw threw wear wore similar compatible parallel
    approximately especially mainly largely mostly partly soon later earlier together alone enough else thousand
    thousands hundred hundreds million millions billion billions dozen dozens percent outside inside themselves
    itself himself herself yourself ourselves myself i me you he him she it we us they them who whom whose which
    what when where why how there here then now so if but nor yet not only also too very just even still already
    again once ever never always often sometimes usually is are was were be been being am do does did done doing
    have has had having can could may might must shall should will would ought need needs needed lets make makes
    made making take takes took taken taking give gives gave given giving get gets got getting go goes went gone
    going come comes came coming say says said saying see sees saw seen seeing know knows knew known think thought
    want wants wanted use uses used keep keeps kept put puts set sets become becomes became seem seems seemed show
    shows showed shown find finds found tell tells told ask asks asked try tries tried call calls called work works
    worked help helps helped mean means meant include includes included contain contains contained provide provides
    provided require requires required allow allows allowed cause causes caused follow follows followed following
    apply applies applied stated begin begins began continue continues continued remain remains remained stop stops
    stopped start starts started ensure check checks because since while although though unless until before after
    above below up down out off away back near far further more most less least many much few several other others
    another same different own one two three four five six seven eight nine ten first second third last next new old
    good bad better best great big large small high low long short true false able due likely however therefore thus
    hence moreover otherwise instead rather quite well like unlike among amongst toward towards across along around
    behind beside besides beyond except despite whether either neither thing things way ways something anything
    nothing everything everyone someone anyone people lot lots kind today tonight yesterday tomorrow ago really
    actually simply etc eg ie e.g i.e vs mr mrs ms dr p pp please yes ok certain various particular general specific
    current available possible necessary important common main whole entire figure table section chapter page part
    note example order case number amount unk nbsp amp quot http https www respective respectively related based
    according total added add believe believed bring brought carry carried change changed consider considered create
    created develop developed expect expected feel felt happen happened hold held increase increased leave led left
    lead live lived look looked lose lost meet move moved offer offered open opened pay paid play played read
    receive received reach reached run ran send sent serve served spend spent stand stood talk talked turn turned
    understand wait walk win write wrote written january february march april june july august september october
    november december monday jan feb mar apr jun jul aug sep sept oct nov dec tuesday wednesday thursday friday
    saturday sunday basis accordance event extent lesser addition additional respect connection regard account
    behalf terms result view""".split()
)

_STOP_ZH_WORDS = """
可以 可能 应当 应该 不得 必须 需要 进行 表示 认为 指出 称为 成为 作为 由于 因为 因此 所以 如果 但是 然而 虽然 以及
或者 并且 而且 其中 其他 其它 目前 已经 正在 曾经 同时 之后 之前 以后 以前 以来 以上 以下 以内 通过 根据 按照 依照
关于 对于 非常 十分 更加 一些 一个 一种 一次 一定 一直 一样 一般 一起 一旦 这个 这种 这些 这样 这里 那个 那些 那么
什么 怎么 如何 我们 他们 她们 它们 你们 自己 大家 没有 不是 不能 不会 不要 不可 不同 仍然 此外 另外 此次 本次 近日
今天 昨天 今年 去年 日前 当地时间 据悉 获悉 了解到 发现 发生 出现 开始 继续 包括 例如 比如 等等 左右 超过 达到 高于
低于 大于 小于 不低于 不高于 能够 具有 属于 位于 使用 采用 提供 得到 受到 造成 导致 引起 产生 形成 存在 分别 直接
立即 及时 随后 最终 最后 首先 其次 然后 再次 不断 逐步 逐渐 特别 尤其 甚至 仅仅 只有 只要 只能 为了 除了 无论 不管
尽管 即使 当时 现在 未来 过去 当前 有关 相关 各种 各个 许多 很多 大量 部分 全部 所有 任何 每个 每次 每年 本报 记者
报道 正文 来源 编辑 介绍 说道 强调 透露 宣布 公布 发布 称 说 讲 的话 来说 来看 而言 之一 之间 方面 情况 问题 时候
时间 地方 东西 事情 办法 方式 进一步 主要 重要 其实 显示 提出 提到 看到 知道 觉得 希望 要求 想要 愿意 决定 参加 接受
举行 开展 实现 推动 促进 加强 加大 提高 增加 减少 保持 保证 确保 完成 结束 带来 成功 起来 出来 下来 上去 过来 前往
抵达 离开 進行 應當 應該 須要 認為 稱為 成為 作為 由於 因為 雖然 並且 曾經 同時 之後 以後 以來 以內 通過 根據 關於
對於 這個 這種 這些 這樣 這裡 那麼 什麼 怎麼 我們 他們 它們 沒有 不會 發現 發生 出現 開始 繼續 達到 高於 能夠 屬於
位於 導致 產生 隨後 最終 最後 為了 無論 當時 現在 過去 當前 許多 來說 時候 時間 問題 情況 顯示 認識 並非 開發出
創建於 其後 後來 此後 但 若 則 年代 世纪 世紀 名為 稱作 又稱 又称 改為 改为 擁有 拥有 包含 注意 持续 持續 里面 下面
上面 裡面 外面 提示 即 曾 仍 均 皆 亦 已 且 将会 都会 才会 就会 也会 还会 儘管 选择 選擇 相似 成立 纳入 納入 流行
介入 使得 使 让 讓 令 请 請 互有 互相 相当 相當 较为 較為 极为 極為 尚未 尚 针对 針對
""".split()
_STOP_ZH_CHARS = "了也又很你我他她它您吗嗎呢吧啊嘛们們这這那哪此该該某各每凡"
# Letters that are words of their own, but not inside the words that the lookarounds name.
_STOP_ZH_GUARDED = (
    "指(?!挥|揮|标|標|数|數|导|導|南|定|令|示|甲|纹|針|针)",
    "把(?!握|关|關|手|持)",
    "最(?!佳|高|大|低|小|新|优|優)",
    "未(?!成年|来|來|知|遂)",
    "[每各该該某这這那哪][个個项項次种種名位条條款年月日](?!目|件)",
    "(?<!目)的",
    "(?<!附)(?<!沿)[着著](?!火|色|陆|手|力|名|作)",
    "(?<!归)(?<!返)(?<!退)(?<!偿)[还還](?!款|原)",
    "(?<!变)(?<!變)更(?!新|换|換|改|名|替|正)",
    "被(?!告|子)",
    "(?<!供)[给給](?!付|水|定|料)",
    "[会會](?=[在有被对對以将將使把])",
    "(?<!共)(?<!饱)(?<!飽)(?<!温)(?<!总)(?<!柔)和(?!国|國|平|谐|諧|解|睦|声|聲)",
    "(?<!参)与(?!会)",
    "(?<!參)與(?!會)",
    "(?<!存)(?<!现)(?<!現)(?<!所)在(?!线|線|职|職|校|读)",
    "(?<!若)(?<!于)是",
    "(?<!耳)其",
    "(?<!埃)(?<!普)及(?!格)",
    "之(?!江)",
    "(?<!行)(?<!华)(?<!人)为",
    "(?<!行)(?<!華)(?<!人)為",
    "而(?!立)",
    "(?<!首)(?<!成)(?<!京)(?<!古)都(?!市|城)",
    "(?<!成)就(?!业|業|职|医)",
    "或(?!许)",
    "(?<!针)(?<!绝)(?<!相)(?<!反)(?<!面)(?<!校)对(?!象|中|手|外|话|比|应|称|流|接|方|口|联)",
    "(?<!針)(?<!絕)(?<!相)(?<!反)(?<!面)對(?!象|中|手|外|話|比|應|稱|流|接|方|口)",
    "(?<!麻)(?<!小)(?<!老)将(?!军|领|士)",
    "(?<!麻)(?<!小)將(?!軍|領|士)",
    "(?<!服)(?<!随)从(?!业|事|军|属)",
    "(?<!服)(?<!隨)從(?!業|事|軍|屬)",
    "(?<!方)(?<!径)(?<!轴)(?<!流)(?<!转)(?<!双)(?<!单)(?<!横)(?<!纵)(?<!定)(?<!导)(?<!趋)向(?!量|导|日)",
    "(?<!自)(?<!理)(?<!缘)由(?!来)",
    "(?<!平)(?<!高)(?<!中)(?<!初)(?<!同)(?<!相)(?<!均)等(?!级|級|效|待|离|離|候|同|温)",
    "(?<!报)(?<!签)到(?!货|貨|期|场|任)",
    "(?<!由)(?<!关)(?<!等)于(?!是)",
    "於",
    "(?<!所)以(?!色列|太)",
    "(?<!公)(?<!私)有(?!机|效|限|色|害|機)",
    "(?<!行)(?<!不)并(?!购|网|联|列|行)",
    "(?<!長)並(?!購|網|聯|列|行)",
)
STOP_ZH = re.compile(
    "|".join(
        [
            *sorted(set(_STOP_ZH_WORDS), key=lambda word: (-len(word), word)),
            *_STOP_ZH_GUARDED,
            f"[{_STOP_ZH_CHARS}]",
        ]
    )
)
# A Chinese term neither begins with the first nor ends with the second.
MEASURES_ZH = frozenset(
    "面枚座篇棟栋幅年月日号號点點时時分秒级級米元人名位个個次种種条條项項家岁歲天周届屆楼樓层層度里期章节節款部倍吨克"
)
BAD_FIRST_ZH = frozenset(
    "段架过過太号號会會日月度一二三四五六七八九十两兩几幾百千万亿第年月日时時分秒个個位名种種次条條只年上下前后後里裡内中间些所者性化们們不没可要能来來去再才却虽因如至自同跟比当當每按经經应應须須"
)
BAD_LAST_ZH = frozenset(
    "好内內外中过過一二三四五六七八九十两兩几幾第个個不没可要能再才却虽因如至自同跟比当當每按经經应應须須很最更从從是做作让使去来來上下前后後时時里裡到出得地所受向"
)
GENERIC_ZH = frozenset(
    """
    最高 最低 最大 最佳
    公司 国家 國家 地区 地區 工作 活动 活動 项目 中国 中國 单位 人员 内容 方法 系统 作用 结果 影响 发展 规定 本条
    本章 前款 本法 本合同 本规程 下列 下表 上述 多个 多次 多年 不少 人们 人民 先生 女士 消息 图片 视频
    """.split()
)
