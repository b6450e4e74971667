"""Sentences by hand: in each row ``|`` marks every place where a sentence ends and another begins.

The text of a row is the row without its marks, so text and expectation cannot drift apart.
"""

from __future__ import annotations

ENGLISH = r"""
The pump stopped.| We called the operator.
Who closed the valve?| Nobody answered.| Then the alarm rang!
Dr. Ortega signed the log before Mrs. Lund arrived.| Both left at noon.
Prof. Hale and Capt. Voss share an office.
The shift begins at 6 a.m. and ends at 2 p.m. on weekdays.
The lab opens at 9 a.m.| The doors close at five.
Use a solvent, e.g. Acetone or ethanol.| Rinse twice.
The main contractor, i.e. Norvik, pays the fee.
See Fig. 4 for the layout.| Compare it with Tab. 2 and Eq. 7.
Valve No. 12 leaks.| Replace it today.
I asked him twice and he said no.| We gave up.
Arden Tools Inc. Norway sold nine presses.
Arden Tools Inc. sold nine presses.| Brightwell Ltd. sold two.
The deal closed on Tues. Sept. 9 in Oslo.
Deliveries run from Jan. to Mar. and again in Oct. 2031.
The U.S. Coast Guard replied.| No one else did.
He moved to the U.S.| He likes it there.
The report by J. K. Marlow is long.| Read it anyway.
A. B. Nilsson wrote the preface.
She prefers plan B.| We prefer plan C.| They have none.
The tank holds 12.5 litres.| It weighs 3.75 kg.
Install v2.4.1 or 3.x first.| Then restart.
The gateway is 10.0.4.17.| Ping it before you start.
Visit https://docs.example.test/a.b?x=1.5 for details.| Ask there.
Visit https://docs.example.test.| Individuals may write to us.
Mail ops@example.test.| Somebody will reply.
Open settings.prod.yaml and README.md.| Save both.
We run Node.js and call os.path.join here.| It works.
The class java.util.List is an interface.
Call Console.WriteLine to print.| Nothing else is needed.
They agreed.|He left.
8.3 Either side may cancel.| 8.4 Fees remain due.
8.3. Either side may cancel.| Fees remain due.
Limits are set out in 4.2.| They apply from May.
As shown in Sec. 4.2.| The load is small.
1. Open the hatch.| 2. Drain the oil.| 3. Close the hatch.
a) Wash the filter.| b) Dry the filter.
a. Wash the filter.| b. Dry the filter.
IV. Duties of the tenant
Step 1. Loosen the bolts.| Step 2. Lift the cover.
Do the following: 1. Open the valve.| 2. Wait.
Loading... done!
Well... maybe not.| We shall see.
He paused...| Then he spoke.
Wait, what?!| That cannot be right!!!| Look again.
"Stop!" he shouted.| The crane froze.
"Stop the line."| She pressed the button.
He said, "Stop the line."| She pressed the button.
“Is it safe?” asked Mara.| “It is,” said Tom.
“Leave it.”| The foreman turned away.
“Is it safe?” Mara asked.| Nobody knew.
(See the annex.)| The rest is standard.
The valve (type B, approx. 40 mm) is closed.| Good.
He called it "done."| It was not.
Salt & pepper &amp; vinegar are stocked.| Order more.
Check the hose;| check the clamp;| sign the card.
for (i = 0; i < n; i++) { total += a[i]; }
The value `x; y` is a pair.| Keep it.
The result was clear.[12]| Later work agreed.[3][4]| We stop here.
**Note.**| Do not touch the blade.
She owns an iPad.| iPad cases are sold here.
It ended in 1998.| 12 people stayed.
Is this the end?| yes, it is.
Nothing here has any stop at all
Yahoo
Q. What is the limit?| A. It is ten tonnes.
The parcel weighs 5 lb.| It left today.
Meet me at St. Olav church on Elm Ave. near the bridge.
The smith v. Jones case is old.| Read it.
Smith et al. reported a rise.| Others did not.
Chapters 3 vs. 4 differ.| That is fine.
He has a Ph.D. in physics.| She has none.
We need bolts, nuts, washers, etc.| Order them now.
We need bolts, nuts, etc. for the frame.
Approx. 30 users came.| Most stayed.
Is it 10:30?| Yes.| Go.
The ratio is 3:1.| Mix well.
The file is at C:\data\spool.log.| Delete it.
The path /etc/app.d/10-net.conf is fixed.| Do not move it.
the pump was old. |it failed twice in 2031. |nobody had looked at it.
the fee is paid by acme inc. on the first day, approx. at noon. |later it is not.
net sales rose by 4.5%. |costs fell.
He called it " a new dawn . " |Nobody agreed .
He called it " done . " |Then he left .
" On May 2 we sail . " |" So be it . "
MR. HALE rose to speak.| MRS. HALE did not.
The " U.S.S. Arrow " sailed on .| Nobody saw it .
costs rose (see note 2). |there were no others.
They wait... ... |Then they go.
The lid fits.) |The base does not.
The range is 5-10. |It is wide.
Use A. niger or B. subtilis here. |Both grow well.
Vols. 3 and 4 are lost. |Nos. 5 and 6 are not.
Is it due in Jan. or in Feb.?| Ask Ms. Pell.
The firm (Holt & Sons Ltd.) closed. |Its stock was sold.
He was born c. 1890. |He died in 1950.
Turn left at Main St.| The shop is there.
"""

CHINESE = r"""
今天停电。|明天恢复。
阀门关了吗？|没有！|马上去关。
先断电；|再挂牌；|最后测温。
他想了很久……|最后还是签字了。
真的吗？！|太好了！！|我们走。
“先撤人。”队长说。
“先撤人！”老周喊道，“别管设备。”
“你看清楚了吗？”她问。|没有人回答。
他说：“机器坏了。”|大家都停下来。
他说：“机器坏了。|明天再修。”|大家散了。
「注意安全。」|他挥了挥手。
（详见附件三。）|其余按原规定执行。
工具应当归位（含扳手、量具等）。|缺失的要登记。
《为什么下雨？》是一本科普书。
请读《安全手册》。|读完签名。
面对“谁来付款？”这个问题，双方都没说话。
他大喊“着火了！”的时候，电话响了。
温度为36.5度。|压力为0.8兆帕。
浓度＞3．5％时报警。|低于１．２％时复位。
依据第 3.2 条办理。|依据第4.1.2款备案。
见 4.2 节。|另见 5.1.3 节。
第三条　库房应当通风。|第四条　禁止吸烟。
（一）易燃品；|（二）氧化剂；|（三）压缩气体。
①关闭电源；|②取下保险；|③通知班长。
1．检查油位。|2．检查皮带。
1.检查油位。|2.检查皮带。
1、检查油位。|2、检查皮带。
一、总则。|二、职责。
第二班接替｡|第三班休息｡
会议结束．|大家散去
没有标点的一整段文字也算一句
巡检人员应当每两小时记录一次压力和温度并在交班时向下一班说明异常情况
他走了。。。|没人送。
价格是1,200元。|数量是30件。
比例为3：1。|时间为10：30。
“我……我不知道。”他说。
你好，世界
她说“好的”。|然后走开了。
她说‘可以’。|然后签字。
他问：“几点？”|答：“十点。”
“走吧。”|天已经黑了。
“走吧。”|第二天老师说：“今天考试。”
结论如下：设备完好。|建议继续使用。
请在３０分钟内离开！|否则报警。
数据包括姓名、年龄、住址等；|不含电话。
他写道：“天晴。”|（原文如此。）|后来天阴了。
是吗？|是的。|好。
【注意】高温！|请勿触摸。
原因有三：一是设备老化；|二是操作不当；|三是缺少培训。
会上强调，要做到“三个必须”。|各部门要落实。
【甲方】应付款。|【乙方】应交货。
“检查好了吗？”|“好了。”|两人一起下山。
价格多少钱?|五元!|好
甲方未付款的，乙方可以解除合同。|但另有约定的除外。
他低声说：「不要开门！」|门还是开了。
读数正常（见表2）。|继续观察。
时间：2031年5月6日。|地点：三号楼。
我们提出“快、准、稳”的要求。|大家同意。
“为什么是我？”他想。|没有答案。
“停！”他说，“前面危险。”|我们停了。
省略的内容……等以后再补。
他走得很慢——因为腿伤。|没人催他。
本规定自发布之日起施行。
他叹气道：“唉！|算了。”
油温过高怎么办？|降温。
『禁止入内！』牌子上写着。
经检查，电压为220V。|电流为5A。
她只说了一个字：“走！”|我们就走了。
（一）总则
会议由王工主持。|出席的有：李工、赵工等。
“天气转好了。”|据气象台介绍，明天无雨。
“天气转好了。”|报道称，游客明显增多。
“天气转好了。”她说，“我们走吧。”
“天气转好了。”|她说，自己打算明天出发。
“钱已经付了。”|我知道。
太热了... ...|“我们休息吧。”
他连说三声“好！|好！|好！”
编号见表3.5。|其余见图4-2。
（本报记者　李默）
他问我：“走不走？”|我说：“走！”
第一，先培训；|第二，再上岗。
门上写着“闲人免进！”，他没有看见。
这句话——“安全第一！”——写在墙上。
公司成立于1998年。|2003年上市。
“他来了吗”？|没有。
她喜欢《你好，明天！》这首歌。|我也喜欢。
“快跑！”|三个人一起冲了出去。
"""

MIXED = r"""
升级到 v2.4.1 后重启。|The unit is OK.| 联系 ops@example.test，电话不变。
请访问 https://ops.example.test/a.b?x=1.5。|精度为 0.05%。
系统运行 Ubuntu 22.04。|版本号见 config.v3.toml。
U.S. 标准适用。|E.U. 标准不适用。
The motor is OK.|联系班长即可。
使用 Node.js 开发。|后端用 Python 3.11。
他说 OK.| Then he left.
请看 Fig. 3 和 Tab. 4。|Use the red line.| 谢谢!
产品型号为 A.B.12，请核对。
Press 确定.| Then wait.
按 Enter 键!|等待三秒。
The term 「标准件」 means a fixed part.| It is defined in 第二条。
Dr. Wang 来了。|他很高兴。
调用 os.path.join(a, b)；|再调用 save()。
API 返回 404。|Why?|因为路径错了。
温度 25.5℃.| 湿度 40%.|正常。
“OK.”他说。
He wrote “你好。”| Then he left.
公司名为 Arden Inc. 总部在奥斯陆。
No. 5 泵停机。|No. 6 泵启动。
先读 README.md。|再运行 main.py。
Vitamin C 含量高。|Plan B 可行。
see 4.2.| 另见 5.1。
e.g. 水、油、气。|i.e. 流体。
价格 $3.50。|Total is ¥20.| 付款后发货。
"""

LINES = r"""
The hose is long\nand it is heavy.| It is new.
The hose is long.\n|It is heavy.
the hose is long.\n|it is heavy.
Heading without a stop\n\n|Body text follows.
Heading without a stop\r\n\r\n|Body text follows.
Heading without a stop\n  \t\n|Body text follows.
Line one\u2029|line two
Line one\u2028|line two
Page one\f|page two
wrapped\r\nline\r\nhere
Items:\n|- red\n|- green\n|- blue
Items:\n|* red\n|* green
Steps\n|1. Open\n|2. Close
Steps\n|1) Open\n|2) Close
Parts\n|(a) the lid\n|(b) the base
Scope\n|8.3 Either side may cancel\n|8.4 Fees remain due
The limit is\n3.5 tonnes per axle.
As stated in\nSection 2.1 the pump is old.
Rules\n|Article 5 Term\n|Article 6 Fees
9.2.7 General\n|The hose shall be checked.
项目\n|（一）水\n|（二）油
项目\n|① 水\n|② 油
目录\n|第一章 总则\n|第二章 职责
一行文字\n接着下一行。|完
第一行。\n|第二行
标题\n\n|正文开始。|结束。
We met Dr.\nHolm in May.| He left.
The size (see Fig.\n3) is small.
First part;\n|second part.
Is it?\n|yes
Intro\n|• red\n|• green
Intro\n|一、总则\n|二、职责
- red.\n|- green.
"""

HIDDEN = r"""
Safe\u200bty first.| Re\u00adlease the valve.
\ufeffThe lid is open.| Close it.
The lid is open.\u200b| Close it.
They agreed.\u200b|He left.
关闭\u200b阀门。\u200b|打开\u2060水泵。
Dr\u200b. Holm left.| We stayed.
The limit is 3.\u200b5 tonnes.
\u202bThe run\u202c stops here.| Next.
“先撤人。\u200b”队长说。
Heading\n\u200b\n|Body
"""


def rows() -> list[tuple[str, list[str]]]:
    """Every row as its text and its sentences."""
    table = []
    for group in (ENGLISH, CHINESE, MIXED, LINES, HIDDEN):
        for line in group.strip().split("\n"):
            for mark, character in _ESCAPES:
                line = line.replace(mark, character)
            table.append((line.replace("|", ""), [part.strip() for part in line.split("|")]))
    return table


_ESCAPES = (
    ("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\f", "\f"), ("\\u2028", "\u2028"), ("\\u2029", "\u2029"),
    ("\\u200b", "\u200b"), ("\\u00ad", "\u00ad"), ("\\ufeff", "\ufeff"), ("\\u2060", "\u2060"),
    ("\\u202b", "\u202b"), ("\\u202c", "\u202c"),
)  # fmt: skip
