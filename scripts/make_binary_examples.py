"""Writes the DOCX, PDF and XLSX examples anew: ``python scripts/make_binary_examples.py [FOLDER]``.

Needs python-docx, reportlab and openpyxl. The same script writes the same bytes each time.
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import docx
import openpyxl
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer

EXAMPLES = Path(__file__).parents[1] / "examples"
WHEN = datetime(2025, 3, 4)
# Parts of the template that no reader needs and that make up most of its size.
_LEFT_OUT = ("docProps/thumbnail.jpeg", "word/stylesWithEffects.xml")


def main(folder: Path) -> None:
    (folder / "inspection-rules.zh.docx").write_bytes(inspection_rules())
    (folder / "commissioning-report.en.pdf").write_bytes(commissioning_report())
    (folder / "service-log.en.xlsx").write_bytes(service_log())


def inspection_rules() -> bytes:
    """Rules for daily inspection: styled headings, lists, a table with merged cells, a page header."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "设备管理制度汇编 · 内部资料"
    document.add_heading("离心泵日常点检规程", 0)
    document.add_paragraph(
        "本规程规定离心泵运行期间的点检项目、周期和异常处理。点检人员应当经过培训，并持有当年的上岗证。"
    )
    document.add_heading("1 点检前的准备", 1)
    for item in (
        "确认工作票已经签发，现场无交叉作业。",
        "带齐测温枪、测振笔、听音棒和点检表。",
        "穿戴防护鞋、护目镜；进入噪声高于 85 dB(A) 的区域时佩戴耳塞。",
    ):
        document.add_paragraph(item, style="List Bullet")
    document.add_heading("2 点检项目", 1)
    document.add_paragraph("各项目的允许值见下表。连续两次超过允许值的，按第 3 章处理。")
    rows = (
        ("部位", "项目", "允许值", "周期"),
        ("轴承", "温度", "不高于 80 ℃，且不高于环境温度 40 ℃ 以上", "每班"),
        ("轴承", "振动速度", "不高于 4.5 mm/s", "每周"),
        ("机械密封", "泄漏", "不超过每分钟 5 滴", "每班"),
        ("电动机", "电流", "不高于铭牌值", "每班"),
        ("电动机", "绕组温度", "不高于 120 ℃", "每周"),
        ("联轴器", "弹性体", "无裂纹，无粉末", "每月"),
    )
    table = document.add_table(rows=len(rows), cols=4, style="Table Grid")
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    for first, last in ((1, 2), (4, 5)):
        table.cell(last, 0).text = ""
        table.cell(first, 0).merge(table.cell(last, 0)).text = rows[first][0]
    document.add_heading("3 异常处理", 1)
    document.add_heading("3.1 温度异常", 2)
    document.add_paragraph(
        "轴承温度达到 75 ℃ 时，每小时复测一次；达到 80 ℃ 时，切换到备用泵，停机检查。"
        "温度在十分钟内上升超过 10 ℃ 的，不等待复测，立即停机。"
    )
    document.add_paragraph(
        "停机后先检查润滑脂的颜色和数量，再检查对中。刚补过润滑脂的轴承，温度在两小时内偏高属于正常现象，"
        "前款关于 80 ℃ 的规定不适用，但温度不得高于 90 ℃。"
    )
    document.add_heading("3.2 振动异常", 2)
    document.add_paragraph(
        "振动速度在 4.5 mm/s 和 7.1 mm/s 之间的，检查地脚螺栓、入口压力和联轴器，在一周内安排检修。"
        "高于 7.1 mm/s 的，立即停机。"
    )
    document.add_heading("3.3 密封泄漏", 2)
    document.add_paragraph(
        "泄漏超过每分钟 5 滴的，在三天内更换机械密封；呈线状流出的，立即停机。输送易燃液体的泵，"
        "出现任何可见泄漏都应当立即停机，并用可燃气体检测仪检查周围。"
    )
    document.add_heading("4 记录", 1)
    document.add_paragraph("点检结果当班录入系统，异常情况附照片。纸质点检表保存三年，振动数据保存到设备报废。")
    properties = document.core_properties
    properties.author, properties.title, properties.comments = "", "离心泵日常点检规程", ""
    properties.created = properties.modified = WHEN
    buffer = io.BytesIO()
    document.save(buffer)
    return fixed_zip(buffer.getvalue())


_REPORT: tuple[tuple[str, str], ...] = (
    ("Title", "Commissioning Report: Pump Station North"),
    ("Heading1", "1 Summary"),
    (
        "BodyText",
        "Six single-stage pumps HL-80-200 were put into service between 3 and 14 February. Five of them meet "
        "the guaranteed flow of 72 m3/h at a head of 48 m. Pump P-104 reaches 69 m3/h and was accepted with a "
        "reservation that is described in section 4.2.",
    ),
    (
        "BodyText",
        "No safety device had to be overridden during the tests. The dry-run guard of every pump was tested "
        "twice, once with an empty suction pipe and once with a disconnected sensor; it stopped the motor "
        "within 2 seconds each time.",
    ),
    ("Heading1", "2 Scope and method"),
    (
        "BodyText",
        "The tests followed the procedure agreed with the operator. Flow was measured with a clamp-on "
        "ultrasonic meter, pressure with calibrated gauges of class 0.6, and power with the meter of the "
        "switchboard. Each point was held for fifteen minutes before readings were taken, and the mean of ten "
        "readings is reported.",
    ),
    (
        "BodyText",
        "The water temperature was between 9 and 11 degrees. Results are not corrected for temperature, "
        "because the effect is below the accuracy of the flow meter.",
    ),
    ("Heading1", "3 Results"),
    ("Heading2", "3.1 Flow and head"),
    (
        "BodyText",
        "At the duty point the pumps delivered 74, 73, 73, 69, 72 and 75 m3/h, in the order of their numbers. "
        "The head was between 47.6 and 48.9 m. The curves are parallel to the curve of the manufacturer; none "
        "shows the kink that would point to cavitation.",
    ),
    ("Heading2", "3.2 Vibration"),
    (
        "BodyText",
        "All readings are below 2.8 mm/s, except on P-104, where 4.1 mm/s was found at the drive end. The "
        "alarm limit is 7.1 mm/s. The value fell to 3.3 mm/s after the coupling had been aligned again with a "
        "warm pump.",
    ),
    ("PageBreak", ""),
    ("Heading1", "4 Reservations"),
    ("Heading2", "4.1 Noise in the valve chamber"),
    (
        "BodyText",
        "With three pumps in parallel the non-return valve of P-102 closes audibly. The noise is not harmful, "
        "but the counterweight should be adjusted at the next inspection.",
    ),
    ("Heading2", "4.2 Flow of P-104"),
    (
        "BodyText",
        "The flow of P-104 is 4 % below the guarantee. The contractor believes that the wear ring was damaged "
        "by welding beads left in the suction pipe. The strainer contained eleven beads of up to 4 mm when it "
        "was opened on 12 February.",
    ),
    (
        "BodyText",
        "The contractor shall open the pump within 60 days, replace the wear ring and repeat the measurement "
        "of section 3.1. The warranty of P-104 begins with the repeated measurement, not with this report.",
    ),
    ("PageBreak", ""),
    ("Heading1", "5 Training and handover"),
    (
        "BodyText",
        "Four operators were trained for two days. They performed a start, a stop, a change-over to the "
        "standby pump and the reaction to the fault codes F01, F05 and F12 without help. The operator "
        "received the manual, the spare parts list and the settings of all controllers on paper and as files.",
    ),
    (
        "BodyText",
        "Spare parts for two years are in the store. The list was checked against the delivery; one set of "
        "O-rings was missing and has been ordered.",
    ),
)


def commissioning_report() -> bytes:
    """A report of three pages with a running header and page numbers."""
    styles = getSampleStyleSheet()
    story: list[Flowable] = []
    for style, text in _REPORT:
        story.extend([PageBreak()] if style == "PageBreak" else [Paragraph(text, styles[style]), Spacer(1, 8)])
    buffer = io.BytesIO()
    template = SimpleDocTemplate(buffer, pagesize=A4, title=_REPORT[0][1], author="", invariant=1)
    template.build(story, onFirstPage=_running_lines, onLaterPages=_running_lines)
    return buffer.getvalue()


def _running_lines(canvas: Canvas, _template: SimpleDocTemplate) -> None:
    canvas.setFont("Helvetica", 9)
    canvas.drawString(72, A4[1] - 40, "Pump Station North - Commissioning Report")
    canvas.drawCentredString(A4[0] / 2, 36, f"Page {canvas.getPageNumber()} of 3")


def service_log() -> bytes:
    """Two sheets: a log with dates, and a small table under a title row."""
    book = openpyxl.Workbook()
    log = book.active
    log.title = "Service log"
    log.append(["Date", "Pump", "Hours", "Fault", "Work done", "Parts"])
    for row in (
        (datetime(2025, 2, 14), "P-104", 210, "", "Coupling aligned with a warm pump", ""),
        (datetime(2025, 2, 21), "P-102", 240, "", "Counterweight of the non-return valve adjusted", ""),
        (datetime(2025, 3, 3), "P-101", 402, "F07", "Strainer cleaned, eleven welding beads removed", ""),
        (datetime(2025, 3, 18), "P-105", 655, "F01", "Casing vented; the seal was inspected and found intact", ""),
        (datetime(2025, 4, 2), "P-104", 812, "", "Pump opened, wear ring replaced, flow now 73 m3/h", "WR-80"),
        (datetime(2025, 4, 29), "P-103", 1180, "F12", "Plug of the serial line dried and greased", ""),
        (datetime(2025, 5, 16), "P-106", 1420, "F03", "Fan cover cleaned; leaves had blocked it", "FN-132"),
        (datetime(2025, 6, 6), "P-105", 1688, "F06", "Mechanical seal replaced after 6 drops per minute", "MS-45"),
        (datetime(2025, 7, 1), "P-101", 2015, "F16", "Supply voltage 12 % low in the evening; utility informed", ""),
        (datetime(2025, 8, 12), "P-102", 2610, "F05", "Foundation bolts tightened, vibration 2.4 mm/s", ""),
        (datetime(2025, 9, 9), "P-103", 3002, "F15", "Level sensor replaced", "LS-02"),
        (datetime(2025, 10, 20), "P-106", 3650, "", "Grease renewed, 15 g per bearing", ""),
    ):
        log.append(row)
    limits = book.create_sheet("Alarm limits")
    limits.append(["Limits set at commissioning; changes need the consent of the operator"])
    limits.append(["Quantity", "Warning", "Stop", "Unit"])
    for limit in (
        ("Vibration", 4.5, 7.1, "mm/s"),
        ("Bearing temperature", 75, 80, "°C"),
        ("Seal leakage", 5, 20, "drops/min"),
    ):
        limits.append(limit)
    book.properties.creator = ""
    book.properties.created = WHEN
    buffer = io.BytesIO()
    book.save(buffer)
    return fixed_zip(buffer.getvalue())


def fixed_zip(data: bytes) -> bytes:
    """The same archive without times of writing and without needless parts of the template."""
    source = zipfile.ZipFile(io.BytesIO(data))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name in sorted(source.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            part = source.read(name)
            if name in _LEFT_OUT:
                continue
            if name.endswith(".rels") or name == "[Content_Types].xml":
                part = re.sub(rb"<(?:Relationship|Override) [^>]*(?:thumbnail|stylesWithEffects)[^>]*/>", b"", part)
            if name == "docProps/core.xml":
                part = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", b"2025-03-04T00:00:00Z", part)
            info = zipfile.ZipInfo(name, (2025, 3, 4, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, part)
    return buffer.getvalue()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES)
